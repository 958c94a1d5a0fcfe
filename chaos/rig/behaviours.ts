import type { ServerResponse } from "node:http";
import type { Seen } from "../checker/history.ts";
import { now } from "./clock.ts";

/** What a target knows of one request while it deals with it. */
export type Draft = { -readonly [Field in keyof Seen]: Seen[Field] };

const BEHAVIOURS = [
  "ok",
  "error",
  "slow",
  "hang",
  "drip",
  "reset",
  "short",
  "long",
  "garbage",
  "redirect",
] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

export function isBehaviour(name: string): name is Behaviour {
  return BEHAVIOURS.some((behaviour) => behaviour === name);
}

/** Longer than any call may take. */
const DRIPS = 300;
const DRIP_MS = 100;

export interface CallScene {
  readonly response: ServerResponse;
  readonly entry: Draft;
  readonly ms: number;
  readonly body: string;
}

/** What targets do. Each end is written down before it is sent: nothing that follows from it can seem earlier. */
const DOINGS: Readonly<Record<Behaviour, (scene: CallScene) => void>> = {
  ok: (scene) => void setTimeout(answer, Math.min(scene.ms, 400), scene, 200),
  slow: (scene) => void setTimeout(answer, scene.ms, scene, 200),
  error: (scene) => answer(scene, 500),
  redirect(scene) {
    scene.response.setHeader("location", "/elsewhere");
    answer(scene, 302);
  },
  hang() {},
  reset({ response, entry, ms }) {
    setTimeout(
      () => {
        // Its caller has hung up before: that was its end.
        if (response.destroyed) return;
        end(entry);
        response.socket?.resetAndDestroy();
      },
      Math.min(ms, 400),
    );
  },
  garbage({ response, entry }) {
    end(entry);
    response.socket?.end("SMTP 220 hello\r\n\r\n");
  },
  /** Promises more than it sends, and hangs up. */
  short({ response, entry, body }) {
    entry.status = 200;
    end(entry);
    response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length + 50}\r\n\r\n${body}`);
  },
  /** Sends more than it promised: the caller may take the promise or the whole for a fault. */
  long({ response, entry, body }) {
    entry.status = 200;
    entry.whole = "doubtful";
    end(entry);
    response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}and more`);
  },
  drip: (scene) => drip(scene, DRIPS),
};

export function misbehave(behaviour: Behaviour, scene: CallScene): void {
  DOINGS[behaviour](scene);
}

function answer({ response, entry, body }: CallScene, status: number): void {
  if (response.destroyed) return;
  entry.status = status;
  entry.whole = "yes";
  end(entry);
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(body);
}

/** A byte now and then, so that the connection never seems idle. */
function drip(scene: CallScene, left: number): void {
  const { response, entry } = scene;
  if (response.destroyed) return;
  if (left === DRIPS) {
    entry.status = 200;
    response.writeHead(200, { "content-type": "text/plain" });
  }
  if (left === 0) {
    entry.whole = "yes";
    end(entry);
    return void response.end();
  }
  response.write(".");
  setTimeout(drip, DRIP_MS, scene, left - 1);
}

function end(entry: Draft): void {
  entry.endedAt = now();
  entry.endedBy = "target";
}
