import { defineProtocol, forEach, once } from "../engine/protocol.ts";
import * as lease from "../task/leases.ts";
import * as network from "../task/network.ts";
import { CREATED, isEnded } from "../task/row.ts";
import type { State, TaskBug } from "../task/worker.ts";
import * as work from "../task/worker.ts";

const BUGS = {
  "no-fence": "a settlement does not compare the fence",
  "no-lease-check": "a call begins without a look at the lease",
  "give-back-without-fence": "a give-back does not compare the fence",
  "lease-without-margin": "a node counts its lease for as long as the database does",
  "reconcile-at-once": "the reconciler gives back a task while the answer to its claim is on the way",
  "no-reconciler": "nobody compares what the database assigns to a node with what the node runs",
  "reap-once": "the reaper gives back only the tasks of workers that it removes at that moment",
  "untold-forgotten": "the reconciler takes a call whose give-back was lost for one that never left",
} as const satisfies Record<TaskBug, string>;

const NAMES = ["A", "B"];
const START: State = {
  row: CREATED,
  registered: NAMES.map((_, id) => id),
  workers: NAMES.map((_, id) => ({ id, is: "up", ...lease.FRESH })),
  strays: [],
  called: 0,
  faults: 0,
  wrong: null,
};

function build(bug: TaskBug | null) {
  const does = forEach<State>(NAMES, {
    "The claim of node * begins: its worker is registered.": work.ask,
    "The claim of node * takes the task if it is pending.": work.take,
    "Node * reads the answer to its claim.": work.takeClaim,
    "Node * begins the call.": (state, at) => work.call(state, at, bug),
    "The target answers node * with a 200.": (state, at) => work.answer(state, at, "completed"),
    "The settlement of node * is carried out.": (state, at) => work.tell(state, at, bug),
    "Node * reads the answer to its settlement.": work.hear,
    "Node * breaks off its attempt, because its lease is over.": work.giveUp,
    "The give-back of node * is carried out.": (state, at) => work.tellGivenUp(state, at, bug),
    "Node * waits no longer for its give-back, which is held up.": network.delayGiveBack,
    "Node * wakes.": lease.wake,
    "Node * renews its lease, or registers again.": lease.renew,
    "The reconciler of node * makes its round.": (state, at) => lease.reconcile(state, at, bug),
  });
  const suffers = forEach<State>(
    NAMES,
    {
      "The target answers node * with a 500, and the task is to be retried.": (state, at) =>
        work.answer(state, at, "retry"),
      "Node * freezes for longer than its lease.": lease.freeze,
      "Node * is killed.": lease.kill,
      "Node * is killed while its claim is carried out.": lease.killClaiming,
      "Node * is cut off from the database for longer than its lease.": lease.loseLease,
      "The claim of node *, or the answer to it, is lost.": network.loseClaim,
      "Node * waits no longer for its claim, which is held up.": network.delayClaim,
      "The answer to the settlement of node * is lost.": network.loseSettlement,
      "The settlement of node * is held up, and it sends another.": network.delaySettlement,
    },
    true,
  );
  const database = once<State>({
    "The statement that was held up goes on.": (state) => network.arriveLate(state, bug),
    "The reaper gives back the task of a worker without a row.": (state) =>
      bug === "reap-once" ? null : lease.reap(state),
  });
  // A node registers under further numbers while its earlier ones are known: at most three at once.
  const removals = [0, 1, 2].flatMap((life) =>
    forEach<State>(
      NAMES,
      {
        "The reaper removes a worker of node *.": (state, at) =>
          lease.remove(state, life * NAMES.length + at, bug),
      },
      bug === "lease-without-margin",
    ),
  );
  return { start: START, actions: [...does, ...suffers, ...database, ...removals], wrong, isSettled };
}

/** A call of a frozen node, whose worker was removed, stays open until the node wakes: nobody can close it. */
function wrong({ row, workers, registered }: State): string | null {
  const open = workers.filter(
    ({ attempt, hasLease }) => attempt?.at === "calling" && (hasLease || registered.includes(attempt.worker)),
  );
  if (open.length > 1) return "Two calls of the task are under way at once.";
  if (row.status !== "active" && row.closed.length !== row.attempt)
    return `${row.attempt} attempts were begun, and the record has ${row.closed.length}.`;
  return null;
}

const isSettled = ({ row, workers }: State) =>
  isEnded(row) && workers.every(({ attempt }) => attempt === null);

export const claimProtocol = defineProtocol({
  name: "claim",
  about: "claim, lease, settlement and give-back of a task by two nodes",
  bugs: BUGS,
  bounds: { least: 1, usual: 2 },
  build,
});
