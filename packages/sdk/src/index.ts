export { type Bellhop, createBellhop } from "./client.ts";
export type { ClientOptions } from "./client-options.ts";
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
export type { NodeRequest, NodeResponse } from "./node-adapter.ts";
export type { AnswerOf, BodyOf, OperationId, QueryOf } from "./operation.ts";
export type { CreateOptions, RequestOptions } from "./options.ts";
export { type HandlerOptions, NoRetry, type Notification, type ReceivedCall } from "./receiver.ts";
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
  TaskSummary,
} from "./tasks.ts";
export { type AnyHeaders, verifyWebhook, type Webhook } from "./webhook.ts";
