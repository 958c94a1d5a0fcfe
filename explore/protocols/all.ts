import type { Protocol } from "../engine/protocol.ts";
import { breakerProtocol } from "./breaker.ts";
import { cancelProtocol } from "./cancel.ts";
import { claimProtocol } from "./claim.ts";
import { retentionProtocol } from "./retention.ts";

export const PROTOCOLS: readonly Protocol[] = [
  claimProtocol,
  cancelProtocol,
  retentionProtocol,
  breakerProtocol,
];
