export { type Bellhop, createBellhop } from "./client.ts";
export {
  ApiError,
  BellhopError,
  ConnectionError,
  type RateLimit,
  SignatureError,
  TimeoutError,
} from "./errors.ts";
export type { BellhopEvent, EventOptions } from "./events.ts";
export {
  type Handler,
  type HandlerOptions,
  handler,
  type NodeRequest,
  type NodeResponse,
  NoRetry,
  type Notification,
  type ReceivedCall,
} from "./handler.ts";
export type { AnswerOf, BodyOf, OperationId, QueryOf } from "./operation.ts";
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
export type { ClientOptions, RequestOptions } from "./transport.ts";
export { type AnyHeaders, verifyWebhook, type Webhook } from "./webhook.ts";
