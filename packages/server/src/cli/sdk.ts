/** All of the SDK that the command line uses. The packed server has a copy of the SDK, and of its files only this one differs. */
export {
  ApiError,
  type Bellhop,
  type BellhopEvent,
  ConnectionError,
  createBellhop,
  type NewDirectTask,
  type NewTask,
  type Task,
  type TaskSummary,
} from "@bellhop/sdk";
