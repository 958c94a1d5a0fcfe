import { eventsOf, wrongState } from "./events.ts";
import type { Delivery, History, Receiver } from "./history.ts";
import type { Stories, Story } from "./stories.ts";
import type { Violation } from "./violation.ts";

/**
 * A webhook is told of every change of a task since it was made, each under an id of its own, which a further try repeats. It
 * may arrive twice and out of order: by `timestamp` the order is that of the changes.
 */
export function checkWebhooks({ receivers, rest }: History, stories: Stories): Violation[] {
  return receivers.flatMap((receiver) => [
    ...checkTries(receiver),
    ...checkStories(receiver, rest.undelivered, stories),
  ]);
}

function violation(text: string, { taskId, at }: Pick<Delivery, "taskId" | "at">): Violation {
  return { promise: "webhooks", text, taskId, at };
}

/** Each try of a delivery says the same, and is signed. */
function checkTries({ received }: Receiver): Violation[] {
  const first = new Map<string, Delivery>();
  return received.flatMap((delivery): Violation[] => {
    const { id, type, taskId, state, signed, happenedAt } = delivery;
    const known = first.get(id) ?? delivery;
    first.set(id, known);
    if (!signed) return [violation(`delivery ${id} had a bad signature`, delivery)];
    const wrong = wrongState(type, state);
    if (wrong !== null) return [violation(wrong, delivery)];
    const isSame = known.type === type && known.taskId === taskId && known.happenedAt === happenedAt;
    return isSame ? [] : [violation(`delivery ${id} said ${known.type}, then ${type}`, delivery)];
  });
}

function checkStories(
  receiver: Receiver,
  undelivered: History["rest"]["undelivered"],
  stories: Stories,
): Violation[] {
  const told = new Map<string, Delivery[]>();
  const taken = receiver.received.filter(({ status }) => status < 300);
  for (const delivery of new Map(taken.map((each) => [each.id, each])).values())
    if (delivery.taskId !== null) told.set(delivery.taskId, [...(told.get(delivery.taskId) ?? []), delivery]);
  const unknown = [...told.keys()].map(stories.find).filter(({ changes }) => changes.length === 0);
  return [...stories.all, ...unknown].flatMap((story): Violation[] => {
    const reported = told.get(story.id) ?? [];
    const text = complaint(receiver, reported, undelivered, story, stories);
    const at = story.changes.at(-1)?.committedAt ?? reported.at(-1)?.at ?? 0;
    return text === null ? [] : [violation(text, { taskId: story.id, at })];
  });
}

function complaint(
  receiver: Receiver,
  reported: readonly Delivery[],
  undelivered: History["rest"]["undelivered"],
  story: Story,
  stories: Stories,
): string | null {
  const [first] = story.changes;
  if (first === undefined) return reported.length === 0 ? null : "told of a task that never was";
  if (!isWanted(receiver, story, stories))
    return reported.length === 0 ? null : "told of a task of another team or queue";
  const happened = story.changes.flatMap((change, index) => eventsOf(story.changes[index - 1], change));
  const types = inOrder(reported).map(({ type }) => type);
  const later = undelivered.filter(({ taskId }) => taskId === story.id).map(({ type }) => type);
  const isWhole = first.committedAt > receiver.since;
  const expected = isWhole ? happened : happened.slice(happened.length - types.length - later.length);
  if (isWithout(expected, types, later)) return null;
  return `told: ${types.join(", ") || "nothing"}; what happened: ${happened.join(", ")}${later.length === 0 ? "" : `; still to be told: ${later.join(", ")}`}`;
}

function isWanted({ teamId, queue }: Receiver, { changes, last }: Story, stories: Stories): boolean {
  const queueId = last?.queueId ?? -1;
  const isOfQueue =
    queue === null || stories.queueStates(queueId).some((state) => state.queue.name === queue);
  return isOfQueue && changes[0]?.row.teamId === teamId;
}

/** A task that is created and begun at once tells both in one instant. */
function inOrder(reported: readonly Delivery[]): Delivery[] {
  const isCreation = ({ type }: Delivery) => Number(type !== "task.created");
  return [...reported].sort(
    (one, other) => one.happenedAt - other.happenedAt || isCreation(one) - isCreation(other),
  );
}

/** Whether `types` is `expected` but for those that are to come later, wherever they stand. */
function isWithout(expected: readonly string[], types: readonly string[], later: readonly string[]): boolean {
  const missing = [...later];
  let told = 0;
  for (const type of expected) {
    if (types[told] === type) told += 1;
    else if (missing.includes(type)) missing.splice(missing.indexOf(type), 1);
    else return false;
  }
  return told === types.length;
}
