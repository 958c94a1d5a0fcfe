import { bellhop } from "./bellhop.ts";
import { peers } from "./peers.ts";
import { skeleton } from "./skeleton.ts";
import type { Subject } from "./subject.ts";

/** In the order in which they take turns; the first is what the others are compared with. */
export const subjects: Subject[] = [skeleton, bellhop, ...peers];
