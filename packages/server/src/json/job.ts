import { type LookedUp, lookUp } from "../domain/json/look-up.ts";
import { type Outlined, outlineJson } from "../domain/json/outline.ts";
import { type JsonBounds, type Scanned, scanJson } from "../domain/json/scan.ts";

/** A job on one untrusted text: on the event loop if it is short, in a thread otherwise. */
export type Job =
  | {
      readonly kind: "look_up";
      readonly text: string;
      readonly bounds: JsonBounds;
      readonly paths: readonly string[];
      readonly keepBytes: number;
    }
  | { readonly kind: "outline"; readonly text: string; readonly bounds: JsonBounds }
  | { readonly kind: "check"; readonly text: string; readonly bounds: JsonBounds };

export interface Answers {
  readonly look_up: LookedUp;
  readonly outline: Outlined;
  readonly check: Scanned;
}

export type Answer<K extends Job["kind"]> = Answers[K];

export function runJob(job: Job): Answers[Job["kind"]] {
  switch (job.kind) {
    case "look_up":
      return lookUp(job.text, job.paths, job.keepBytes, job.bounds);
    case "outline":
      return outlineJson(job.text, job.bounds);
    case "check":
      return scanJson(job.text, job.bounds, null, null);
  }
}
