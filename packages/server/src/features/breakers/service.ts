import type { Principal, Requester } from "../../domain/identity/principal.ts";
import { cutPage, type Page, type PageRequest } from "../../domain/page.ts";
import { Problem } from "../../domain/problem.ts";
import { recordChange } from "../../service/audit/audit.ts";
import { createTeamTurns, type InTeamTurn } from "../../service/team-turns.ts";
import type { Database } from "../../store/sql.ts";
import { closeBreakers } from "../../store/tasks/breakers.ts";
import { findQueue } from "../../store/tasks/queues.ts";
import { type Breaker, countOpenBreakers, listBreakers, queuesWithOpenBreakers } from "./store.ts";

/** The open circuit breakers of a team's queues. */
export interface BreakerService {
  list(principal: Principal, page: PageRequest): Promise<Page<Breaker>>;
  /** Closes the breakers of a host, in one queue or in all. Resolves with the queues. */
  close(requester: Requester, host: string, queue: string | null): Promise<string[]>;
  countOpen(teamId: number, queue: string | null): Promise<number>;
}

export function createBreakerService(deps: {
  readonly database: Database;
  /** Events may have been stored. */
  readonly onChanged: () => void;
  /** Default: those of this service alone. */
  readonly inTeamTurn?: InTeamTurn;
}): BreakerService {
  const { database, inTeamTurn = createTeamTurns() } = deps;
  return {
    async list({ teamId }, { limit, cursor }) {
      const found = await listBreakers(database, teamId, readCursor(cursor), limit + 1);
      return cutPage(found, limit, ({ queue, host }) => `${queue} ${host}`);
    },
    async close(requester, host, queue) {
      const { teamId } = requester;
      if (queue !== null && (await findQueue(database, requester, queue)) === null)
        throw new Problem("queue_not_found", { name: queue });
      const closed: string[] = [];
      // One queue at a time: each is locked while its breaker changes.
      for (const open of await queuesWithOpenBreakers(database, teamId, host, queue)) {
        const isClosed = await inTeamTurn(teamId, () =>
          database.transaction(async (sql) => {
            const hosts = await closeBreakers(sql, { teamId, queueId: open.queueId, host });
            if (hosts.length === 0) return false;
            const detail = { queue: open.queue };
            await recordChange(sql, requester, { action: "breaker.closed", target: host, detail });
            return true;
          }),
        );
        if (isClosed) closed.push(open.queue);
      }
      if (closed.length === 0) throw new Problem("breaker_not_found", { host });
      deps.onChanged();
      return closed;
    },
    countOpen: (teamId, queue) => countOpenBreakers(database, teamId, queue),
  };
}

/** A cursor that no page has given begins the list again. */
function readCursor(cursor: string | null): { readonly queue: string; readonly host: string } | null {
  const [queue, host] = (cursor ?? "").split(" ");
  return queue === undefined || host === undefined || cursor?.includes("\0") ? null : { queue, host };
}
