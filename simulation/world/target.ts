import type { Seen } from "../../chaos/checker/history.ts";
import type { Random } from "../../chaos/rig/random.ts";
import type { Call } from "../../packages/server/src/domain/call.ts";
import type { Outcome, Phase } from "../../packages/server/src/domain/outcome.ts";
import { parseTaskId } from "../../packages/server/src/domain/task-id.ts";
import type { Caller, SendOptions } from "../../packages/server/src/outbound/caller.ts";
import type { Process } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";

type SeenCall = { -readonly [Key in keyof Seen]: Seen[Key] };

/** All targets of a run: what arrives is noted, and answered well, badly, late, or never. */
export interface Targets {
  readonly seen: readonly Seen[];
  /** From now on every target answers at once and well, unless its host is down. */
  heal(): void;
  /** A host that is down answers no call well. */
  setDown(host: string, isDown: boolean): void;
  callerOf(process: Process): Pick<Caller, "call">;
}

interface Behaviour {
  readonly status: number | null;
  readonly afterMs: number;
  readonly body: string;
}

const FOREVER_MS = 10_000_000;

export function createTargets(scheduler: Scheduler, random: Random): Targets {
  const seen: SeenCall[] = [];
  const down = new Set<string>();
  let isHealed = false;

  function arrive(call: Call, options: SendOptions): SeenCall {
    const [, kind, taskId] = new URL(call.url).pathname.split("/");
    const attempt = options.headers?.["bellhop-attempt"];
    // A task whose call was replaced has the URL of another request.
    const own = parseTaskId(options.headers?.["bellhop-task-id"] ?? "");
    const noted: SeenCall = {
      kind: kind === "poll" || kind === "notification" ? kind : "call",
      taskId: own ?? taskId ?? "",
      attempt: attempt === undefined ? null : Number(attempt),
      begunAt: scheduler.nowMs,
      endedAt: null,
      endedBy: null,
      status: null,
      whole: "no",
      says: kind === "notification" ? `task.${JSON.parse(call.body ?? "{}").status}` : null,
      nonces: [],
      value: null,
      ...(call.body?.startsWith('{"request":') && { request: JSON.parse(call.body).request }),
    };
    seen.push(noted);
    return noted;
  }

  function behave(noted: SeenCall, host: string): Behaviour {
    const body = noted.kind === "poll" ? pollAnswer() : "{}";
    const good: Behaviour = { status: 200, afterMs: 1 + random.next() * 300, body };
    if (down.has(host)) {
      const how = random.weighted({ bad: 5, reset: 2, hang: 1 });
      return {
        body,
        status: how === "reset" ? null : 500,
        afterMs: how === "hang" ? FOREVER_MS : random.next() * 200,
      };
    }
    if (isHealed) return good;
    const how = random.weighted({ good: 6, slow: 2, bad: 1, reset: 1, hang: noted.kind === "call" ? 1 : 0 });
    if (how === "slow") return { ...good, afterMs: random.next() * 5_000 };
    if (how === "bad") return { ...good, status: 500 };
    if (how === "reset") return { ...good, status: null };
    return how === "hang" ? { ...good, afterMs: FOREVER_MS } : good;
  }

  function pollAnswer(): string {
    const status = isHealed ? "done" : random.weighted({ running: 3, done: 2, failed: 1 });
    return JSON.stringify({ status });
  }

  function close(noted: SeenCall, endedBy: "target" | "caller"): void {
    if (noted.endedAt !== null) return;
    noted.endedAt = scheduler.nowMs;
    noted.endedBy = endedBy;
  }

  return {
    seen,
    heal() {
      isHealed = true;
    },
    setDown(host, isDown) {
      if (isDown) down.add(host);
      else down.delete(host);
    },
    callerOf: (process) => ({
      call(call, options) {
        const begunMs = scheduler.nowMs;
        return new Promise<Outcome>((resolve) => {
          let noted: SeenCall | null = null;
          let phase: Phase = "not_sent";
          let isOver = false;

          function finish(outcome: Outcome): void {
            if (isOver) return;
            isOver = true;
            timer.cancel();
            ending.cancel();
            options.signal?.removeEventListener("abort", abort);
            if (noted !== null) close(noted, "caller");
            resolve(outcome);
          }
          function fail(code: "aborted" | "timeout" | "connection_reset"): void {
            const durationMs = Math.round(scheduler.nowMs - begunMs);
            finish({ kind: "failure", code, message: code, phase, statusCode: null, durationMs });
          }
          const abort = () => fail("aborted");

          function leave(): void {
            if (isOver) return;
            if (options.mayLeave?.() === false) {
              abort();
              return;
            }
            phase = "sent";
            const arrived = arrive(call, options);
            noted = arrived;
            const { status, afterMs, body } = behave(arrived, new URL(call.url).host);
            if (arrived.kind === "poll" && status === 200) arrived.says = JSON.parse(body).status;
            scheduler.after(afterMs, () => {
              if (arrived.endedAt !== null) return;
              close(arrived, "target");
              arrived.status = status;
              arrived.whole = status === null ? "no" : "yes";
              process.after(0.1 + random.next(), "read", () => {
                if (status === null) return fail("connection_reset");
                const durationMs = Math.round(scheduler.nowMs - begunMs);
                finish({
                  kind: "response",
                  statusCode: status,
                  headers: {},
                  body,
                  truncated: false,
                  durationMs,
                });
              });
            });
          }

          const ending = process.onEnd(() => {
            if (noted !== null) close(noted, "caller");
          });
          const timer = process.after(options.timeoutMs, "timer", () => fail("timeout"));
          if (options.signal?.aborted) return abort();
          options.signal?.addEventListener("abort", abort);
          options.began?.({ stop: abort });
          process.after(random.chance(0.05) ? random.next() * 2_000 : random.next() * 3, "read", leave);
        });
      },
    }),
  };
}
