import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { FastifyRequest } from "fastify";
import { sourceOf } from "../../domain/identity/source-address.ts";
import { Problem } from "../../domain/problem.ts";
import { asksToWait } from "./long-wait.ts";
import type { Api } from "./schema-types.ts";

export interface BodyBounds {
  /** Maximum bytes of all large bodies in memory. */
  readonly mostBytes: number;
  /** Smaller bodies are read without a check. */
  readonly largeBytes: number;
  /** A request whose body waits longer is refused. */
  readonly waitMs: number;
}

/** Until it is stored, a body is in memory as bytes, text, value and part of a statement, some of it at double width. */
const COPIES = 16;
const MEBIBYTE = 2 ** 20;

export const BODY_BOUNDS: BodyBounds = {
  // More would only wait to be stored and be refused after a second and a half.
  mostBytes: Math.min(Math.max(getHeapStatistics().heap_size_limit / COPIES, 8 * MEBIBYTE), 32 * MEBIBYTE),
  largeBytes: 64 * 1024,
  waitMs: 25_000,
};

/** One owner gets at most this share. */
const MOST_OF_ONE = 0.5;

interface Waiting {
  readonly owner: string;
  readonly bytes: number;
  readonly admit: () => void;
}

/**
 * Limits the memory of large bodies: beyond the limit a body stays unread, so that TCP slows its sender down, until
 * another request has been answered.
 */
export function boundBodies(app: Api, bounds: BodyBounds): void {
  const { mostBytes, largeBytes, waitMs } = bounds;
  const mostOfOne = mostBytes * MOST_OF_ONE;
  const held = new Map<string, number>();
  const line = new Set<Waiting>();
  let heldBytes = 0;

  function hold(owner: string, change: number): void {
    heldBytes += change;
    const bytes = (held.get(owner) ?? 0) + change;
    if (bytes === 0) held.delete(owner);
    else held.set(owner, bytes);
  }

  /** In arrival order, except for owners that have used their share. */
  function admitNext(): void {
    for (const waiting of line) {
      const { owner, bytes, admit } = waiting;
      if (heldBytes + bytes > mostBytes) return;
      if ((held.get(owner) ?? 0) + bytes > mostOfOne) continue;
      line.delete(waiting);
      hold(owner, bytes);
      admit();
    }
  }

  app.addHook("preParsing", (request, reply, payload, done) => {
    request.readFromMs = performance.now();
    const size = sizeOf(request, largeBytes);
    if (size < largeBytes) {
      done(null, payload);
      return;
    }
    const owner = request.principal === null ? sourceOf(request.ip) : `team ${request.principal.teamId}`;
    const bytes = Math.min(size, mostOfOne);
    const waiting: Waiting = {
      owner,
      bytes,
      admit() {
        clearTimeout(timer);
        request.bodyAtMs = performance.now();
        done(null, payload);
      },
    };
    const timer = setTimeout(() => {
      line.delete(waiting);
      reply.raw.off("close", leave);
      done(new Problem("overloaded"));
    }, waitMs);
    let isOver = false;
    function leave(): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (!line.delete(waiting)) hold(owner, -bytes);
      admitNext();
    }
    reply.raw.once("close", leave);
    // A caller that waits for its task must not block others.
    if (asksToWait(request)) payload.once("end", leave);
    // Its deadline has not started.
    request.bodyAtMs = Number.POSITIVE_INFINITY;
    line.add(waiting);
    admitNext();
  });
}

/** The declared size; for a compressed or chunked body the maximum. */
function sizeOf(request: FastifyRequest, largeBytes: number): number {
  const { headers } = request;
  const length = headers["content-length"];
  if (headers["transfer-encoding"] === undefined && length === undefined) return 0;
  const isTold = length !== undefined && headers["content-encoding"] === undefined;
  if (isTold && Number(length) < largeBytes) return Number(length);
  const most = request.routeOptions.bodyLimit;
  const told = isTold ? Number(length) : most;
  // A body that is too large is refused unread.
  return told > most ? 0 : told;
}
