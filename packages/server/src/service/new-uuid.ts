import { randomFillSync } from "node:crypto";
import { createUuidSource } from "../domain/public-id.ts";

/** Ids of one process rise strictly, so they also order rows created at the same time. */
export const newUuid = createUuidSource({ nowMs: Date.now, fillRandom: randomFillSync });
