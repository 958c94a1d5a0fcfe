import { Problem } from "../../domain/problem.ts";
import { echo } from "../http/complaint.ts";
import { isQueueName } from "../schemas/queue-name.ts";

export function queueNotFound(name: string): Problem {
  return new Problem("queue_not_found", { name: echo(name) });
}

/** A name that no queue can have is looked up nowhere: PostgreSQL would choke on a NUL in it. */
export function readQueueName(text: string): string {
  if (!isQueueName(text)) throw queueNotFound(text);
  return text;
}
