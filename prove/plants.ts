import type { Plant } from "./plant.ts";
import { BEYOND_PLANTS } from "./plants-beyond.ts";
import { ENGINE_PLANTS } from "./plants-engine.ts";
import { HOT_PLANTS, STORE_PLANTS } from "./plants-store.ts";

export const PLANTS: readonly Plant[] = [...ENGINE_PLANTS, ...BEYOND_PLANTS, ...STORE_PLANTS, ...HOT_PLANTS];
