/** All of the SDK that the command line uses. The packed server has a copy of the SDK, and of its files only this one differs. */
export {
  type AnswerOf,
  ApiError,
  type Bellhop,
  type BellhopEvent,
  type BodyOf,
  type BulkAction,
  ConnectionError,
  createBellhop,
  type NewDirectTask,
  type NewTask,
  type QueryOf,
  type RequestOptions,
  signWebhook,
  type Task,
  type TaskSummary,
  toWire,
} from "@bellhop/sdk";
