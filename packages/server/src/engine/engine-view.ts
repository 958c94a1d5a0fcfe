import type { NewTask } from "../domain/task.ts";
import type { Accepted } from "../store/tasks/task-intake.ts";
import type { Actors } from "./actors.ts";
import type { Alarm } from "./alarm.ts";
import type { Attempts } from "./attempts.ts";
import type { Breakers } from "./breakers.ts";
import type { Cancellations } from "./cancellations.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Flows } from "./flows.ts";
import type { FrontDesk } from "./front-desk.ts";
import type { Janitor } from "./janitor.ts";
import type { Lease } from "./lease.ts";
import type { OrderedQueues } from "./ordered-queues.ts";
import type { Reaper } from "./reaper.ts";

/** The interface of the engine for the rest of the node. */
export interface Engine extends Pick<FrontDesk, "notificationDue" | "follow" | "isCrowded"> {
  /** Actors can be added before the start. */
  readonly actors: Actors;
  readonly lease: Lease;
  readonly dispatcher: Dispatcher;
  readonly attempts: Attempts;
  readonly alarm: Alarm;
  readonly flowAlarm: Alarm;
  readonly flows: Flows;
  readonly reaper: Reaper;
  readonly janitor: Janitor;
  readonly poller: Deliveries;
  readonly courier: Deliveries;
  readonly webhookCourier: Deliveries;
  readonly deadlines: Deadlines;
  readonly orderedQueues: OrderedQueues;
  readonly breakers: Breakers;
  readonly cancellations: Cancellations;
  submit(task: NewTask): Promise<Accepted | null>;
  /** Handles a message of another node, or of the service, on the channel. */
  hear(message: string): void;
  /** Checks everything again, because hints may have been missed. */
  lookEverywhere(): void;
  start(): Promise<void>;
  /** Stops claiming, lets calls finish within the grace period, releases the rest. */
  stop(graceMs: number): Promise<void>;
  /** Ends the grace period of a stop at once. */
  hurry(): void;
}
