import type { NewTask } from "../domain/task.ts";
import type { Accepted } from "../store/tasks/task-intake.ts";
import type { Actors } from "./actors.ts";
import type { Alarm } from "./alarm.ts";
import type { Attempts } from "./attempts.ts";
import type { Cancellations } from "./cancellations.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { FrontDesk } from "./front-desk.ts";
import type { Janitor } from "./janitor.ts";
import type { Lease } from "./lease.ts";
import type { Reaper } from "./reaper.ts";

/** The engine as the rest of the node sees it. */
export interface Engine extends Pick<FrontDesk, "pending" | "follow" | "isCrowded"> {
  /** Further ones may be added before the start. */
  readonly actors: Actors;
  readonly lease: Lease;
  readonly dispatcher: Dispatcher;
  readonly attempts: Attempts;
  readonly alarm: Alarm;
  readonly reaper: Reaper;
  readonly janitor: Janitor;
  readonly poller: Deliveries;
  readonly courier: Deliveries;
  readonly webhookCourier: Deliveries;
  readonly deadlines: Deadlines;
  readonly cancellations: Cancellations;
  submit(task: NewTask): Promise<Accepted | null>;
  /** A message of another node, or of the service, on the channel. */
  hear(message: string): void;
  /** Hints may have been missed: look at everything again. */
  lookEverywhere(): void;
  start(): Promise<void>;
  /** Stops claiming, lets calls finish for so long, gives the rest back. */
  stop(graceMs: number): Promise<void>;
  /** A task has ended outside of the engine, by a callback or a cancel: its caller may wait to be told. */
  ended(): void;
  /** Cuts a stop's grace short. */
  hurry(): void;
}
