import { createConnection } from "node:net";

export type Standing = "contending" | "owner";

/** Who listens behind an owner's socket. One that is alive but does not answer is taken for the owner. */
export type Owner = { pid: number | null; host: string | null; standing: Standing };

/** A paused process (SIGSTOP, a busy event loop) still accepts; it keeps its right, so silence is no death. */
const PATIENCE_MS = 1000;

/** `leaving`: it hung up before it had answered, so it must be asked again. */
export function askOwner(path: string): Promise<Owner | "dead" | "leaving"> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    let answer = "";
    const settle = (owner: Owner | "dead" | "leaving") => {
      socket.destroy();
      resolve(owner);
    };
    socket.setEncoding("utf8");
    socket.setTimeout(PATIENCE_MS, () => settle(parseOwner("")));
    socket.on("data", (text: string) => {
      answer += text;
    });
    socket.on("end", () => settle(answer === "" ? "leaving" : parseOwner(answer)));
    socket.on("error", (error) => settle(judgeError(error)));
  });
}

function judgeError(error: Error): Owner | "dead" | "leaving" {
  const code = "code" in error ? error.code : "";
  if (code === "ECONNREFUSED" || code === "ENOENT") return "dead";
  return code === "ECONNRESET" || code === "EPIPE" ? "leaving" : parseOwner("");
}

function parseOwner(answer: string): Owner {
  const owner: Owner = { pid: null, host: null, standing: "owner" };
  const said = parseJson(answer);
  if (typeof said !== "object" || said === null) return owner;
  if ("pid" in said && typeof said.pid === "number") owner.pid = said.pid;
  if ("host" in said && typeof said.host === "string") owner.host = said.host;
  if ("standing" in said && said.standing === "contending") owner.standing = "contending";
  return owner;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
