import type { Protocol } from "../engine/protocol.ts";
import { claimProtocol } from "./claim.ts";

export const PROTOCOLS: readonly Protocol[] = [claimProtocol];
