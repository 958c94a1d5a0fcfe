export { type Bellhop, createBellhop } from "./client.ts";
export type { ClientOptions } from "./client-options.ts";
export { defineTask, type TaskDefaults, type TaskDefinition, type TaskOverrides } from "./define-task.ts";
export {
  ApiError,
  BellhopError,
  ConnectionError,
  type RateLimit,
  SignatureError,
  TimeoutError,
} from "./errors.ts";
export type { BellhopEvent, EventOptions } from "./events.ts";
export { type Handler, handler } from "./handler.ts";
export { toWire } from "./names.ts";
export type { NodeRequest, NodeResponse } from "./node-adapter.ts";
export type { AnswerOf, BodyOf, OperationId, QueryOf } from "./operation.ts";
export type { CreateOptions, RequestOptions } from "./options.ts";
export type { Listing } from "./pages.ts";
export { type HandlerOptions, NoRetry, type Notification, type ReceivedCall } from "./receiver.ts";
export type { StandardSchema } from "./standard-schema.ts";
export type {
  Bulk,
  BulkAction,
  CreatedDirectTask,
  CreatedTask,
  DirectTask,
  NewDirectTask,
  NewTask,
  QueueTask,
  Task,
  TaskQuery,
  TaskSummary,
} from "./tasks.ts";
export { type AnyHeaders, signWebhook, verifyWebhook, type Webhook } from "./webhook.ts";
