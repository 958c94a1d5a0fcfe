/** An address that speaks the API of QStash: Upstash's, or a Bellhop's. Like `bellhop doctor`, it looks at a server from outside. */
export interface QstashApi {
  get(path: string): Promise<unknown>;
  send(method: "POST" | "PATCH", path: string, request: QstashRequest): Promise<unknown>;
}

export interface QstashRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

const ANSWER_MS = 30_000;

export function createQstashApi(url: string, token: string): QstashApi {
  async function ask(
    method: string,
    path: string,
    { headers = {}, body }: QstashRequest = {},
  ): Promise<unknown> {
    const answer = await fetch(`${url.replace(/\/+$/, "")}/v2/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(body !== undefined && { body: typeof body === "string" ? body : new Uint8Array(body) }),
    });
    const text = await answer.text();
    if (!answer.ok)
      throw new Error(`${method} /v2/${path} of ${url} answered ${answer.status}: ${text.slice(0, 300)}`);
    return text === "" ? null : JSON.parse(text);
  }
  return { get: (path) => ask("GET", path), send: (method, path, request) => ask(method, path, request) };
}
