import { createHash } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, Receiver } from "@upstash/qstash";
import { createTestApi, type TestApi } from "../../api/test-api.ts";

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly bytes: Buffer;
}

/** A server on a real socket, the official client of one team, and a target that keeps the bytes it gets. */
export interface Scene {
  readonly api: TestApi;
  readonly baseUrl: string;
  readonly client: Client;
  readonly receiver: Receiver;
  readonly target: {
    readonly url: string;
    readonly calls: Call[];
    answer: (call: Call, response: ServerResponse) => void;
  };
  /** Makes every due call, and those of tasks that follow, until nothing is due. */
  settle(): Promise<void>;
  /** The calls to this path so far. */
  callsTo(path: string): Call[];
  close(): Promise<void>;
}

export async function openScene(): Promise<Scene> {
  const api = await createTestApi({});
  const baseUrl = await api.app.listen({ port: 0, host: "127.0.0.1" });
  const client = new Client({ baseUrl, token: api.team.key, retry: false });
  const keys = await api.call("GET", "/v2/keys");
  const receiver = new Receiver({ currentSigningKey: keys.body.current, nextSigningKey: keys.body.next });
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url: path = "", headers, rawHeaders } = request;
      const call = { method, path, headers, rawHeaders, bytes: Buffer.concat(chunks) };
      calls.push(call);
      target.answer(call, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const target: Scene["target"] = {
    url: `http://127.0.0.1:${port}`,
    calls,
    answer: (_call, response) => response.end("ok"),
  };
  return {
    api,
    baseUrl,
    client,
    receiver,
    target,
    async settle() {
      const { engine } = api.server;
      engine.alarm.lookEverywhere();
      await engine.alarm.ringOnce();
      do {
        await engine.dispatcher.dispatchOnce();
        await engine.attempts.finished();
      } while (engine.attempts.count > 0);
    },
    callsTo: (path) => calls.filter((call) => call.path === path),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await api.close();
    },
  };
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
