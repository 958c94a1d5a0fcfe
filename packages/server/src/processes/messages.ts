import type { EmbeddedConnection } from "../postgres/socket-dir.ts";
import type { Hits } from "./hits.ts";

/** The first message to a process. */
export interface Begin {
  readonly kind: "begin";
  /** From 1; a replacement has the same number. */
  readonly number: number;
  /** How many share the port. */
  readonly processes: number;
  readonly port: number;
  /** The database that the parent runs. Null: the one of DATABASE_URL. */
  readonly embedded: { readonly connection: EmbeddedConnection; readonly dataDir: string } | null;
}

/** The metrics of one process; null if it did not answer in time. */
export interface Scrape {
  readonly process: string;
  readonly text: string | null;
}

export type ToProcess =
  | Begin
  /** Requests the metrics. */
  | { readonly kind: "scrape"; readonly id: number }
  /** The requested metrics of all processes. */
  | { readonly kind: "gathered"; readonly id: number; readonly scrapes: readonly Scrape[] }
  /** Hits counted by another process. */
  | { readonly kind: "hits"; readonly hits: Hits }
  /** All of them run, and the start of the server is complete. */
  | { readonly kind: "started" }
  /** A process has exited: its claims are released without waiting for the end of its lease. */
  | { readonly kind: "died"; readonly workerId: number };

export type ToParent =
  /** It is ready for messages; earlier ones are lost. */
  | { readonly kind: "here" }
  | { readonly kind: "ready"; readonly url: string }
  | { readonly kind: "failed"; readonly reason: string }
  /** It is healthy. */
  | { readonly kind: "beat"; readonly calls: number; readonly workerId: number | null }
  | { readonly kind: "scraped"; readonly id: number; readonly text: string }
  | { readonly kind: "gather"; readonly id: number }
  | { readonly kind: "hits"; readonly hits: Hits };

/** Both sides are of one build: an object with a kind is one of these messages. */
export function isMessage<Message extends ToProcess | ToParent>(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "kind" in value;
}
