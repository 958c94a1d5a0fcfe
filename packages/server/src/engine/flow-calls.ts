import type { Claim } from "../domain/claim.ts";
import type { Time } from "../domain/time.ts";
import { createGroupCommit } from "../store/group-commit.ts";
import type { Sql } from "../store/sql.ts";
import { confirmPermits, type FlowCall, pauseFlow, releasePlaces } from "../store/tasks/flow-places.ts";
import type { Log } from "./log.ts";

const MAX_ITEMS = 300;

type ClaimOfFlow = Claim & { readonly flow: string };

/** What the calls of flows leave in the database: when they began, and that they ended. */
export interface FlowCalls {
  /** The call begins now: its permit counts from now. */
  began(claim: Claim): void;
  /** The target answered 429 or 503 with Retry-After. */
  askedToWait(claim: Claim, waitMs: number): void;
  /** The attempt is settled: its place is given back. */
  ended(claim: Claim): void;
  /** The place was given back when the attempt was settled. */
  left(claim: Claim): void;
  /** The next claim gives its place back. */
  forget(claim: Claim): void;
  drained(): Promise<void>;
}

export function createFlowCalls(deps: {
  readonly sql: Sql;
  readonly time: Time;
  readonly log: Log;
}): FlowCalls {
  const { sql, time } = deps;
  const beganMs = new Map<string, number>();
  /** Claims whose place was given back, until they end. */
  const gone = new Set<string>();

  const group = (write: (sql: Sql, calls: readonly FlowCall[]) => Promise<void>) =>
    createGroupCommit<ClaimOfFlow, true>({
      async flush(claims) {
        const nowMs = time.monotonicMs();
        const calls = claims.map((claim) => {
          const atMs = beganMs.get(keyOf(claim));
          return { claim, beganMsAgo: atMs === undefined ? null : nowMs - atMs };
        });
        await write(sql, calls);
        return claims.map(() => true as const);
      },
      maxItems: MAX_ITEMS,
      soon: time.soon,
    });
  const confirmations = group(confirmPermits);
  const releases = group(releasePlaces);

  function note(write: Promise<unknown>): void {
    // A place that is not given back is found by the next claim that finds the flow full.
    write.catch((err) => deps.log.debug({ err }, "flow.not_recorded"));
  }

  function forget(claim: Claim): void {
    beganMs.delete(keyOf(claim));
    gone.delete(keyOf(claim));
  }

  return {
    began(claim) {
      if (!isOfFlow(claim)) return;
      beganMs.set(keyOf(claim), time.monotonicMs());
      if (claim.startByMs !== null) note(confirmations.add(claim));
    },
    askedToWait(claim, waitMs) {
      if (isOfFlow(claim)) note(pauseFlow(sql, claim.teamId, claim.flow, waitMs));
    },
    ended(claim) {
      if (!isOfFlow(claim)) return;
      if (gone.has(keyOf(claim))) forget(claim);
      else note(releases.add(claim).finally(() => beganMs.delete(keyOf(claim))));
    },
    left: (claim) => gone.add(keyOf(claim)),
    forget,
    async drained() {
      await Promise.all([confirmations.drained(), releases.drained()]);
    },
  };
}

function isOfFlow(claim: Claim): claim is ClaimOfFlow {
  return claim.flow !== null;
}

function keyOf({ id, fence }: Pick<Claim, "id" | "fence">): string {
  return `${id} ${fence}`;
}
