import type { Bellhop } from "./client.ts";
import { BellhopError } from "./errors.ts";
import type { CreateOptions } from "./options.ts";
import { type Handle, NoRetry, type ReceivedCall } from "./receiver.ts";
import { type StandardSchema, validate } from "./standard-schema.ts";
import type { CreatedTask, NewTask } from "./tasks.ts";

/** What all tasks of a kind have in common. */
export type TaskDefaults = Omit<NewTask, "payload" | "idempotencyKey">;

/** Of one task: what differs from the defaults. */
export type TaskOverrides = Partial<Omit<NewTask, "payload">>;

/** A kind of task whose payload has a type, for those who create it and for the one that receives it. */
export interface TaskDefinition<Input, Output> {
  /** Hands one over. A payload that the schema refuses is a `BellhopError`, and nothing is sent. */
  create(
    bellhop: Pick<Bellhop, "tasks">,
    payload: Input,
    overrides?: TaskOverrides,
    options?: CreateOptions,
  ): Promise<CreatedTask>;
  /** One as `tasks.createMany` and schedules take it. */
  task(payload: Input, overrides?: TaskOverrides): Promise<NewTask>;
  /** For the `handler` of any framework. A call with a payload that the schema refuses fails without a retry. */
  handle(handle: Handle<Output>): Handle<unknown>;
}

/**
 * Ties a payload's type to a kind of task. With a schema of Zod, Valibot or ArkType the payload is checked on both sides: the one
 * that creates a task sends it as it was given, and the one that receives it gets what the schema makes of it.
 */
export function defineTask<Input, Output>(
  definition: TaskDefaults & { readonly schema: StandardSchema<Input, Output> },
): TaskDefinition<Input, Output>;
export function defineTask<Payload>(definition: TaskDefaults): TaskDefinition<Payload, Payload>;
export function defineTask<Input, Output>(
  definition: TaskDefaults & { readonly schema?: StandardSchema<Input, Output> },
): TaskDefinition<Input, Output> {
  const { schema, ...defaults } = definition;

  /** Without a schema the type is the caller's word. */
  const check = async (payload: unknown) =>
    schema === undefined ? { value: payload as Output } : validate(schema, payload);

  async function task(payload: Input, overrides: TaskOverrides = {}): Promise<NewTask> {
    const checked = await check(payload);
    if ("complaint" in checked) throw new BellhopError(`The payload is not valid: ${checked.complaint}`);
    return { ...defaults, ...overrides, payload };
  }

  async function receive(call: ReceivedCall, handle: Handle<Output>): Promise<unknown> {
    if (call.notification !== null) throw new NoRetry("A call of a task was expected, not a notification");
    const checked = await check(call.payload);
    if ("complaint" in checked) throw new NoRetry(`The payload is not valid: ${checked.complaint}`);
    return handle({ ...call, payload: checked.value });
  }

  return {
    task,
    create: async (bellhop, payload, overrides, options) =>
      bellhop.tasks.create(await task(payload, overrides), options),
    handle: (handle) => (call) => receive(call, handle),
  };
}
