import { randomFillSync } from "node:crypto";
import { createUuidSource } from "../domain/public-id.ts";

/** Ids of one process rise strictly, so they also order rows that were made in the same instant. */
export const newUuid = createUuidSource({ nowMs: Date.now, fillRandom: randomFillSync });
