import type { Static } from "typebox";
import { access } from "../../api/http/access.ts";
import { callerOf } from "../../api/http/auth-hook.ts";
import { costs, MIB } from "../../api/http/cost.ts";
import { scanOf } from "../../api/http/scan-turns.ts";
import type { Api } from "../../api/http/schema-types.ts";
import { refusals } from "../../api/schemas/error.ts";
import { ref } from "../../api/schemas/field.ts";
import { readSandbox } from "../../api/schemas/sandbox.ts";
import { openAnswerRoom } from "../../domain/answer-room.ts";
import { publicTaskId } from "../../domain/task-id.ts";
import * as record from "./schemas.ts";
import type { QueueSeries, StatsService } from "./service.ts";

const tags = ["Statistics"];

export function registerStatsRoutes(app: Api, stats: StatsService): void {
  app.get(
    "/stats/queues",
    {
      config: {
        ...access("queues:read"),
        ...costs("scan", { rows: 1_000_000, bytes: MIB }),
      },
      schema: {
        operationId: "getQueueStats",
        tags,
        summary: "Get queue statistics",
        description:
          "Counts, depth, waits and durations by steps: 60 s for `15m` and `1h`, 5 min for `6h`, 15 min for `24h`, 2" +
          " h for `7d`, 6 h for `30d`. Each node writes its counts every 10 s: a killed node loses the counts of its" +
          " last seconds, but no task. Quantiles are estimates with an error of at most a quarter. Kept for 30 days.",
        querystring: record.QueueStatsQuery,
        response: { 200: ref(record.QueueStatistics), ...refusals("queue_not_found", "too_many_scans") },
      },
    },
    async (request) => {
      const { range, queue = null, sandbox } = request.query;
      const asked = { range, queue, sandbox: readSandbox(sandbox) };
      const { from, to, stepSeconds, at, queues, total } = await stats.queues(callerOf(request), asked);
      return {
        stats: {
          range,
          from: from.toISOString(),
          to: to.toISOString(),
          step_seconds: stepSeconds,
          at: at.map((instant) => instant.toISOString()),
          queues: queues.map(seriesView),
          total: seriesView(total),
        },
      };
    },
  );

  app.get(
    "/stats/failures",
    {
      config: { ...access("tasks:read"), ...costs("scan", { rows: 20_000, bytes: MIB }) },
      schema: {
        operationId: "getFailureStats",
        tags,
        summary: "Get groups of failed tasks",
        description:
          "Failed tasks that were created in the range and not dismissed, grouped by queue, host, reason, last answer and error. Errors that " +
          "differ only in words with digits are one group. The newest 10,000 are scanned, shared evenly between queues that " +
          "have any. At most 100 groups and 1 MiB, the largest first.",
        querystring: record.FailuresQuery,
        response: { 200: ref(record.FailureList), ...refusals("too_many_scans") },
      },
    },
    async (request) => {
      const { range, sandbox: said } = request.query;
      const asked = { range, sandbox: readSandbox(said) };
      const { createdAfter, sandbox, groups } = await stats.failures(
        callerOf(request),
        asked,
        scanOf(request),
      );
      const room = openAnswerRoom();
      const failures = groups.map((group): Static<typeof record.FailureGroup> => {
        const { queue, host, failureReason, answer } = group;
        return {
          queue,
          host,
          failure_reason: failureReason,
          response_code: answer,
          error: group.error,
          count: group.count,
          course: [...group.course],
          count_is_capped: group.isCapped,
          first_seen: group.firstAt.toISOString(),
          last_seen: group.lastAt.toISOString(),
          top_tags: [...group.topTags],
          top_metadata: [...group.topMetadata],
          sample_task: publicTaskId(group),
          filter: {
            queue,
            status: "failed",
            ...(host !== "" && { host }),
            ...(failureReason !== null && { failure_reason: failureReason }),
            ...(answer !== null && { response_code: answer }),
            ...(group.pattern !== "" && { error: group.pattern }),
            created_after: createdAfter.toISOString(),
            dismissed: "false",
            ...(sandbox && { sandbox }),
          },
        };
      });
      const most = failures.findIndex((failure) => !room.take(JSON.stringify(failure)));
      return { failures: most === -1 ? failures : failures.slice(0, most) };
    },
  );
}

function seriesView(series: QueueSeries): record.QueueSeries {
  const { queue, created, completed, failed, cancelled, retried, pending, waits, durations, now } = series;
  return {
    queue,
    created,
    completed,
    failed,
    cancelled,
    retried,
    pending,
    wait_ms: waits,
    duration_ms: durations,
    oldest_pending_at: series.oldestPendingAt?.toISOString() ?? null,
    now,
  };
}
