import type { Bellhop } from "./client.ts";
import { BellhopError } from "./errors.ts";
import type { CreateOptions } from "./options.ts";
import { type Handle, NoRetry, type ReceivedCall } from "./receiver.ts";
import { type StandardSchema, validate } from "./standard-schema.ts";
import type { CreatedTask, NewTask } from "./tasks.ts";

/** The defaults of all tasks of a kind. */
export type TaskDefaults = Omit<NewTask, "payload" | "idempotencyKey">;

/** The differences of one task from the defaults. */
export type TaskOverrides = Partial<Omit<NewTask, "payload">>;

/** A kind of task with a typed payload, for its creators and its receiver. */
export interface TaskDefinition<Input, Output> {
  /** Creates a task. A payload that the schema refuses throws a `BellhopError`, and no request is sent. */
  create(
    bellhop: Pick<Bellhop, "tasks">,
    payload: Input,
    overrides?: TaskOverrides,
    options?: CreateOptions,
  ): Promise<CreatedTask>;
  /** The task for `tasks.createMany` and schedules. */
  task(payload: Input, overrides?: TaskOverrides): Promise<NewTask>;
  /** For the `handler` of any framework. A call with a payload that the schema refuses fails without a retry. */
  handle(handle: Handle<Output>): Handle<unknown>;
}

/**
 * Ties a payload's type to a kind of task. With a schema of Zod, Valibot or ArkType both sides validate the payload:
 * the creator sends it as given, and the receiver gets the schema's output.
 */
export function defineTask<Input, Output>(
  definition: TaskDefaults & { readonly schema: StandardSchema<Input, Output> },
): TaskDefinition<Input, Output>;
export function defineTask<Payload>(definition: TaskDefaults): TaskDefinition<Payload, Payload>;
export function defineTask<Input, Output>(
  definition: TaskDefaults & { readonly schema?: StandardSchema<Input, Output> },
): TaskDefinition<Input, Output> {
  const { schema, ...defaults } = definition;

  /** Without a schema the type is not verified. */
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
