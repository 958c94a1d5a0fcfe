import { createHash, randomBytes } from "node:crypto";

const CALLBACK_ID = /^[0-9a-f]{64}$/;

/** 256 bits: its holder may end the task, once. */
export function newCallbackId(): string {
  return randomBytes(32).toString("hex");
}

/** As it is stored: the database alone does not tell anyone how to end a task. */
export function hashCallbackId(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}

export function isCallbackId(text: string): boolean {
  return CALLBACK_ID.test(text);
}
