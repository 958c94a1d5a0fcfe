import type { Circumstances, FlowCircumstances } from "../src/domain/circumstances.ts";
import { NO_LIMITS } from "../src/domain/gate/gate.ts";

export const NOW = Date.parse("2030-01-01T00:00:00Z");
/** A due task that nothing holds back. */
export const TASK: Circumstances = {
  id: "0190f8f2-0000-7000-8000-000000000001",
  shape: "queue",
  status: "pending",
  sandbox: false,
  queue: "emails",
  runAt: new Date(NOW - 1_000),
  now: new Date(NOW),
  isSimulated: false,
  deadlineAt: null,
  attemptCount: 0,
  failures: 0,
  retries: 0,
  isAskedToWait: false,
  attemptStartedAt: null,
  polls: null,
  node: null,
  timeoutSeconds: 30,
  paused: false,
  concurrency: 5,
  hasWorkers: true,
  holders: [],
  flowState: null,
  rateState: null,
  breaker: null,
  ahead: 0,
  recent: { starts: 600, minutes: 2 },
  ordered: false,
  lineHolders: null,
  lineHead: null,
};
/** A flow that has begun all calls that its rate lets begin. */
export const FLOW: FlowCircumstances = {
  ...NO_LIMITS,
  holders: [],
  hasPlace: false,
  key: "customer-1",
  taken: 0,
  rate: 10,
  period: 60,
  begun: 10,
  ahead: 25,
  nextAt: new Date(NOW + 5_000),
  paused: false,
  pausedUntil: null,
};
