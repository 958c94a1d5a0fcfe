import { headerComplaints, type RefuseUrl } from "../../domain/call.ts";
import { invalid } from "../../domain/complaint.ts";
import type { Requester } from "../../domain/identity/principal.ts";
import type { TaskService } from "../../service/tasks/task-service.ts";
import type { Database } from "../../store/sql.ts";
import type { MessageOptions } from "./domain-options.ts";
import { messageRequest } from "./domain-request.ts";
import type { MessageTask } from "./service-messages.ts";
import { originOf, type PublishService } from "./service-publish.ts";
import { overrideMessage } from "./store-messages.ts";

/** What a retry has otherwise than the message that failed. */
export interface Overrides {
  readonly options: MessageOptions;
  /** Otherwise the method of the options is a default. */
  readonly hasMethod: boolean;
}

export type RetryMessage = (
  requester: Requester,
  message: MessageTask,
  overrides: Overrides,
) => Promise<void>;

const NO_BODY = { text: null, isBase64: false };

/** Retries failed messages under their id. What is given overrides what they had. */
export function createRetryMessage(deps: {
  readonly database: Database;
  readonly tasks: Pick<TaskService, "check" | "retry">;
  readonly publish: Pick<PublishService, "check">;
  readonly refuseUrl: RefuseUrl;
  readonly now: () => Date;
}): RetryMessage {
  return async (requester, message, { options, hasMethod }) => {
    const { id, call, queue } = message;
    const { headers, retries, timeoutSeconds, retryDelay, callback, failureCallback } = options;
    const changed = {
      ...(retryDelay !== null && { retryDelay }),
      ...(callback !== null && { callback }),
      ...(failureCallback !== null && { failureCallback }),
    };
    const now = deps.now();
    const hasChanges =
      hasMethod ||
      retries !== null ||
      timeoutSeconds !== null ||
      Object.keys(headers).length > 0 ||
      Object.keys(changed).length > 0;
    if (hasChanges) {
      const context = { queue, now, limits: requester.limits, refuseUrl: deps.refuseUrl };
      const request = messageRequest(options, { url: call.url }, NO_BODY, context);
      // The checks of a new message: the plan, the egress policy and tokens in headers.
      await deps.tasks.check(originOf(requester), request);
      await deps.publish.check(requester, request);
      // Before the retry: an attempt must not begin with the old ones.
      const method = hasMethod ? options.method : null;
      const given = { method, headers, retries, timeoutSeconds, changed };
      await deps.database.transaction(async (sql) => {
        const together = await overrideMessage(sql, requester, id, given);
        const complaints = headerComplaints(together ?? {});
        if (complaints.length > 0) throw invalid(complaints);
      });
    }
    const { notBefore } = options;
    const delaySeconds =
      notBefore === null
        ? (options.delaySeconds ?? 0)
        : Math.max(0, Math.ceil((notBefore.getTime() - now.getTime()) / 1000));
    await deps.tasks.retry(requester, id, { delaySeconds, priority: null });
  };
}
