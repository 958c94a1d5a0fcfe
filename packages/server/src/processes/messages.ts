import type { EmbeddedConnection } from "../postgres/socket-dir.ts";
import type { Hits } from "./hits.ts";

/** What a process is given to begin with. */
export interface Begin {
  readonly kind: "begin";
  /** From 1; the one that replaces a process has its number. */
  readonly number: number;
  /** How many share the port. */
  readonly processes: number;
  readonly port: number;
  /** The database that the parent runs. Null: the one of DATABASE_URL. */
  readonly embedded: { readonly connection: EmbeddedConnection; readonly dataDir: string } | null;
}

/** What one process tells a scraper; null of one that did not answer in time. */
export interface Scrape {
  readonly process: string;
  readonly text: string | null;
}

export type ToProcess =
  | Begin
  /** Tell what you count. */
  | { readonly kind: "scrape"; readonly id: number }
  /** What all of them count, as you asked. */
  | { readonly kind: "gathered"; readonly id: number; readonly scrapes: readonly Scrape[] }
  /** Counted by another. */
  | { readonly kind: "hits"; readonly hits: Hits }
  /** All of them run, and the start of the server is complete. */
  | { readonly kind: "started" }
  /** A process is no more: what it had claimed is free, without a wait for the end of its lease. */
  | { readonly kind: "died"; readonly workerId: number };

export type ToParent =
  /** It listens: what is said before is lost. */
  | { readonly kind: "here" }
  | { readonly kind: "ready"; readonly url: string }
  | { readonly kind: "failed"; readonly reason: string }
  /** It is well. */
  | { readonly kind: "beat"; readonly calls: number; readonly workerId: number | null }
  | { readonly kind: "scraped"; readonly id: number; readonly text: string }
  | { readonly kind: "gather"; readonly id: number }
  | { readonly kind: "hits"; readonly hits: Hits };

/** Both ends are of one build: what has a kind is one of its messages. */
export function isMessage<Message extends ToProcess | ToParent>(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "kind" in value;
}
