import { defineProtocol, forEach, once } from "../engine/protocol.ts";
import {
  type Attempt,
  type BreakerBug as Bug,
  CLOSED,
  count,
  givePasses,
  hasPass,
  hold,
  isHeld,
  mayBegin,
  NODE,
  type Node,
  nodeOf,
  type State,
  TASK,
  type Task,
  taskOf,
  withNode,
  withTask,
} from "../task/breaker.ts";

/*
 * A circuit breaker over two nodes and three tasks of one host, which are retried until they succeed. The ratio of failures, flows, ordered
 * queues and a close by hand are left out.
 */

const BUGS = {
  "counted-after-settlement": "an attempt is settled in one transaction and counted in the next",
  "old-pass-begins": "a pass from before the breaker opened again lets its task begin",
  "old-pass-judges": "the result of a pass from before the breaker opened again counts as that of the probe",
  "pass-without-fence": "a pass counts for a later attempt of its task, too",
  "live-passes-not-counted": "a pass is given without a look at those that others have",
  "dead-pass-kept": "a pass whose task was given back keeps its place",
  "dead-pass-by-key": "a pass that came to nothing is removed by its task, without its fence",
  "held-without-place": "a task is taken out of the due tasks without a row that keeps its place",
  "old-view": "a claim does not compare the epoch of the queue",
} as const satisfies Record<Bug, string>;

const NAMES = ["A", "B"];
const START: State = {
  isTargetUp: false,
  ...CLOSED,
  tasks: [TASK, TASK, TASK],
  nodes: NAMES.map(() => NODE),
  faults: 0,
  wrong: null,
  epoch: 0,
};

type Move = (state: State, at: number) => State | null;

const does =
  (move: (node: Node, state: State, at: number) => State | null): Move =>
  (state, at) =>
    nodeOf(state, at).is === "up" ? move(nodeOf(state, at), state, at) : null;

const claims = (bug: Bug | null, which: number): Move =>
  does(({ seesHeld, attempt: current }, state, at) => {
    const task = taskOf(state, which);
    const isOld = seesHeld !== isHeld(state) && bug !== "old-view";
    if (current !== null || task.status !== "pending" || !task.isDue || isOld) return null;
    if (seesHeld && !mayBegin(state, task, bug)) return null;
    const { epoch, phase } = state;
    const attempt: Attempt = {
      ...{ task: which, fence: task.fence + 1, epoch, hasPass: hasPass(task) },
      ...{ at: "calling", isUp: false, isUrgent: false },
    };
    const isProbe = task.place?.pass === epoch;
    const wrong =
      phase === "open" && !isProbe ? "A call begins while the breaker is open, and is no probe." : null;
    const claimed = withTask(state, which, { status: "active", fence: task.fence + 1, isDue: false });
    return { ...withNode(claimed, at, { attempt }), wrong };
  });

const settles = (bug: Bug | null): Move =>
  does(({ attempt }, state, at) => {
    if (attempt?.at !== "answered") return null;
    const { task: which, fence, isUp, isUrgent } = attempt;
    const { status, fence: current } = taskOf(state, which);
    const idle = withNode(state, at, { attempt: null });
    if (status !== "active" || current !== fence) return idle;
    const after = { status: isUp ? "ended" : "pending", fence: fence + 1, isDue: !isUp } as const;
    if (!isUrgent) return withTask(idle, which, after);
    if (bug !== "counted-after-settlement") return count(withTask(idle, which, after), attempt, bug);
    return withTask(withNode(state, at, { attempt: { ...attempt, at: "settled" } }), which, after);
  });

const nodeMoves = (bug: Bug | null): Readonly<Record<string, Move>> => ({
  "Node * claims the first task and calls.": claims(bug, 0),
  "Node * claims the second task and calls.": claims(bug, 1),
  "Node * claims the third task and calls.": claims(bug, 2),
  "Node * reads whether the queue holds the host.": does(({ seesHeld }, state, at) =>
    seesHeld === isHeld(state) ? null : withNode(state, at, { seesHeld: isHeld(state) }),
  ),
  "The target answers node *.": does(({ attempt, seesHeld }, state, at) => {
    if (attempt?.at !== "calling") return null;
    const { isTargetUp: isUp } = state;
    return withNode(state, at, {
      attempt: { ...attempt, at: "answered", isUp, isUrgent: !isUp || seesHeld },
    });
  }),
  "The settlement of node * is carried out.": settles(bug),
  "Node * counts what it has settled.": does(({ attempt }, state, at) =>
    attempt?.at === "settled" ? count(withNode(state, at, { attempt: null }), attempt, bug) : null,
  ),
  "Node * wakes, and breaks off a call whose claim is void.": (state, at) => {
    const { is, attempt } = nodeOf(state, at);
    if (is !== "frozen") return null;
    const isVoid = attempt?.at === "calling" && taskOf(state, attempt.task).fence !== attempt.fence;
    return withNode(state, at, { is: "up", attempt: isVoid ? null : attempt });
  },
  "Node * starts again.": (state, at) =>
    nodeOf(state, at).is === "down" ? withNode(state, at, { is: "up", seesHeld: isHeld(state) }) : null,
});

const nodeFaults = (bug: Bug | null): Readonly<Record<string, Move>> => ({
  "Node * is killed.": (state, at) =>
    nodeOf(state, at).attempt === null ? null : withNode(state, at, { ...NODE, is: "down" }),
  "Node * freezes for longer than its lease.": does(({ attempt }, state, at) =>
    attempt === null ? null : withNode(state, at, { is: "frozen" }),
  ),
  "The settlement of node * is carried out, and the answer to it is lost.": does(({ attempt }, state, at) => {
    const settled = attempt?.at === "answered" ? settles(bug)(state, at) : null;
    return settled && withNode(settled, at, { attempt });
  }),
});

const steps = (bug: Bug | null): Readonly<Record<string, (state: State) => State | null>> => ({
  "Due tasks that may not begin are taken out.": (state) => hold(state, bug),
  "A round ends dead passes and gives new ones.": (state) => givePasses(state, bug),
  "The round removes the passes that it found dead.": (state) => {
    const tasks = state.tasks.map((task): Task => (task.place?.isFound ? { ...task, place: null } : task));
    return bug === "dead-pass-by-key" ? { ...state, tasks } : null;
  },
  "The cooldown is over.": (state) => (state.isCooling ? { ...state, isCooling: false } : null),
  "The reaper gives back what no node runs.": (state) => {
    const isRun = ({ fence }: Task, at: number) =>
      state.nodes.some(({ is, attempt }) => is === "up" && attempt?.task === at && attempt.fence === fence);
    const given = (task: Task): Task => ({ ...task, status: "pending", fence: task.fence + 1, isDue: true });
    const lost = state.tasks.map((task, at) => task.status === "active" && !isRun(task, at));
    return { ...state, tasks: state.tasks.map((task, at) => (lost[at] ? given(task) : task)) };
  },
  "The target recovers.": (state) => (state.isTargetUp ? null : { ...state, isTargetUp: true }),
});

const cancels = (which: number) => (state: State) => {
  const { status, fence } = taskOf(state, which);
  return status === "pending"
    ? withTask(state, which, { status: "ended", fence: fence + 1, isDue: false })
    : null;
};

const requests: Readonly<Record<string, (state: State) => State | null>> = {
  "A client cancels the first task.": cancels(0),
  "A client cancels the second task.": cancels(1),
  "A client cancels the third task.": cancels(2),
  "The target fails again.": (state) => (state.isTargetUp ? { ...state, isTargetUp: false } : null),
};

/** Fences and epochs from those of now, and the tasks in an order of their own: states that differ in nothing else are one. */
function fromNow({ epoch: now, ...state }: State): State {
  const ageOf = (epoch: number) => Math.max(-1, epoch - now);
  const fenceOf = (fence: number, task: number) => Math.max(-3, fence - taskOf(state, task).fence);
  const tasks = state.tasks.map(({ place, ...task }, at) => {
    const pass = place?.pass == null ? null : ageOf(place.pass);
    return { ...task, fence: 0, place: place && { ...place, pass, fence: fenceOf(place.fence, at) } };
  });
  const texts = tasks.map(({ status, isDue, place }) => {
    return `${status} ${isDue} ${place && `${place.pass} ${place.fence} ${place.isFound}`}`;
  });
  const order = [...tasks.keys()].sort((one, other) => {
    const [first = "", second = ""] = [texts[one], texts[other]];
    return first < second ? -1 : first > second ? 1 : 0;
  });
  const nodes = state.nodes.map(({ attempt, ...node }) => {
    if (attempt === null) return { ...node, attempt };
    const { task, fence, epoch } = attempt;
    return {
      ...node,
      attempt: { ...attempt, task: order.indexOf(task), fence: fenceOf(fence, task), epoch: ageOf(epoch) },
    };
  });
  return { ...state, epoch: 0, tasks: order.map((at) => tasks[at] ?? TASK), nodes };
}

function wrong({ phase, epoch, tasks, nodes }: State): string | null {
  const probes = nodes.filter(
    ({ is, attempt }) =>
      is === "up" && attempt?.at === "calling" && attempt.hasPass && attempt.epoch === epoch,
  );
  if (phase === "open" && probes.length > 1) return "Two probes are under way at a time.";
  const isLost = ({ status, isDue, place }: Task) => status === "pending" && !isDue && place === null;
  return tasks.some(isLost) ? "A task is neither due nor waits for a pass: nothing starts it." : null;
}

export const breakerProtocol = defineProtocol<State, Bug>({
  name: "breaker",
  about:
    "the circuit breaker of a host: counts of two nodes, probes with passes, kills, freezes and slow start",
  bugs: BUGS,
  bounds: { least: 1, usual: 2 },
  build: (bug) => ({
    start: START,
    wrong,
    isSettled: ({ tasks, nodes }) =>
      tasks.every(({ status }) => status === "ended") && nodes.every(({ attempt }) => attempt === null),
    actions: [
      ...forEach(NAMES, nodeMoves(bug)),
      ...forEach(NAMES, nodeFaults(bug), true),
      ...once(steps(bug)),
      ...once(requests, true),
    ].map(({ next, ...action }) => ({
      ...action,
      next: (state: State) => {
        const to = next(state);
        return to && fromNow(to);
      },
    })),
  }),
});
