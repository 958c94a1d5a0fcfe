import type { VictimKind } from "../scene.ts";

/** A request without an answer for so long counts as this slow. */
export const UNANSWERED_MS = 5_000;

export interface GaugeJob {
  readonly url: string;
  readonly pid: number;
  readonly victim: VictimKind;
  readonly key: string;
  /** Between two tasks of the victim. */
  readonly everyMs: number;
}

export interface Readings {
  readonly worstLivezMs: number;
  /** Null: none was due to be served yet. */
  readonly worstVictimMs: number | null;
  /** The 99th percentile; null as above. */
  readonly victimP99Ms: number | null;
  readonly victims: number;
  readonly unserved: number;
  /** Tasks of the victim that were not accepted. */
  readonly refusals: number;
  readonly peakMb: number;
  /** For how long the machine held the gauge itself up. */
  readonly machineMs: number;
}
