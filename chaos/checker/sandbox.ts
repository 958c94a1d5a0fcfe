import type { History } from "./history.ts";
import type { SandboxEnd } from "./outside/wishes.ts";
import type { Violation } from "./violation.ts";

/** Runner and database read one clock, and each rounds it in its own way. */
const CLOCK_MS = 5;

/** Simulated tasks come to what was asked for, no target is called for them, and their clock is not that of live tasks. */
export function checkSandbox({ sandbox = [], seen, answers, rest }: History): Violation[] {
  const wrong = sandbox.flatMap(({ taskId, expected, found }): Violation[] => {
    const [should, is] = [expected, found].map(describe);
    if (should === is) return [];
    return [{ promise: "sandbox", text: `it is ${is}, and was to be ${should}`, taskId, at: rest.at }];
  });
  const called = seen
    .filter(({ nonces }) => nonces.some((nonce) => nonce.startsWith("sandbox-")))
    .map(({ taskId, begunAt }): Violation => {
      return { promise: "sandbox", text: "a target was called for it", taskId, at: begunAt };
    });
  const ahead = answers.flatMap(({ createdAt, endedAt, taskId }): Violation[] => {
    if (createdAt === undefined || createdAt <= endedAt + CLOCK_MS) return [];
    const text = `a live task was created ${createdAt - endedAt} ms after its answer: by the clock of the sandbox`;
    return [{ promise: "sandbox", text, taskId, at: endedAt }];
  });
  return [...wrong, ...called, ...ahead];
}

function describe(end: SandboxEnd | null): string {
  if (end === null) return "unknown to the API";
  return `${end.status} after ${end.attempts} attempts with the value ${end.value}`;
}
