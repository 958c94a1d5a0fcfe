import { randomBytes } from "node:crypto";
import type { Scene } from "../scene.ts";

const REFERENCES = 8;

export const scene: Scene = {
  what: "the target of calls with eight vault references answers a megabyte of what is worst to search for secrets",
  seconds: 20,
  excused: {
    memory: "each call of the team that is under way holds an answer of a megabyte, as its plan allows",
  },
  async prepare(stage) {
    const { key } = await stage.team({ plan: "pro" });
    const headers: Record<string, string> = {};
    const secrets: string[] = [];
    for (let number = 0; number < REFERENCES; number += 1) {
      const value = `Bearer ${randomBytes(3_000).toString("base64")}`;
      secrets.push(value);
      const { body } = await stage.must("POST", "/v1/tokens", { key, body: { name: `t${number}`, value } });
      headers[`x-secret-${number}`] = idIn(body);
    }
    // Escapes in escapes, and the beginnings of secrets without their ends.
    const worst = secrets
      .map((value) => encodeURIComponent(encodeURIComponent(value.slice(0, -1))))
      .join("\\u0025\r\n");
    const answer = worst.repeat(Math.ceil(1_000_000 / worst.length)).slice(0, 1_000_000);
    stage.target.answer("/echo", (_, response) => response.end(answer));
    const task = { targetUrl: `${stage.target.url}/echo`, method: "POST", headers };
    return async (signal) => {
      const sender = async () => {
        while (!signal.aborted) await stage.request("POST", "/v1/tasks", { key, body: task });
      };
      await Promise.all([0, 1, 2, 3].map(sender));
    };
  },
};

function idIn(body: unknown): string {
  const token = typeof body === "object" && body !== null && "token" in body ? body.token : body;
  return typeof token === "object" && token !== null && "id" in token ? String(token.id) : "";
}
