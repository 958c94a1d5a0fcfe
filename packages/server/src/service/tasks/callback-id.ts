import { createHash, randomBytes } from "node:crypto";

const CALLBACK_ID = /^[0-9a-f]{64}$/;

/** 256 bits: its holder can end the task, once. */
export function newCallbackId(): string {
  return randomBytes(32).toString("hex");
}

/** The stored form: the database alone does not reveal it. */
export function hashCallbackId(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}

export function isCallbackId(text: string): boolean {
  return CALLBACK_ID.test(text);
}
