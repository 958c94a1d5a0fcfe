import { Button } from "@mantine/core";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { useAct } from "../data/act.ts";
import { useBreakers } from "../data/breakers.ts";
import { bellhop } from "../data/client.ts";
import { formatDuration, plural } from "../data/format.ts";
import { type Queue, usePause, useQueues } from "../data/queues.ts";
import { useRange } from "../data/ranges.ts";
import { useSandbox } from "../data/sandbox.ts";
import { useMay } from "../data/session.ts";
import { useStats } from "../data/stats-query.ts";
import { STATUSES } from "../data/status.ts";
import { Charts } from "../parts/charts.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Facts } from "../parts/facts.tsx";
import { Count } from "../parts/numbers.tsx";
import { Empty, Page, PageHead, Panel, Problem, Skeletons } from "../parts/page.tsx";
import { RangePicker } from "../parts/range-picker.tsx";
import { State } from "../parts/state.tsx";
import { Tiles } from "../parts/tiles.tsx";
import { Moment } from "../parts/time.tsx";
import { OpenBreakers } from "./queues/open-breakers.tsx";
import { QueueDialog } from "./queues/queue-dialog.tsx";

export function QueuePage() {
  const { name } = useParams({ from: "/queues/$name" });
  const queues = useQueues();
  const stats = useStats(useRange());
  const series = stats.data?.queues.find(({ queue }) => queue === name);
  const queue = queues.data?.find((known) => known.name === name);
  const { isReady } = useBreakers();
  return (
    <Page title={name}>
      <PageHead
        title={
          <span className="row">
            <Link to="/queues" className="muted">
              Queues
            </Link>
            <span className="muted">/</span>
            <span className="clip">{name}</span>
            {queue?.paused ? <span className="tag warn">paused</span> : null}
            {queue?.ordered ? <span className="tag">ordered</span> : null}
          </span>
        }
      >
        <RangePicker />
        {queue === undefined ? <NoActions isPending={queues.isPending} /> : <QueueActions queue={queue} />}
      </PageHead>
      {queues.data === undefined && queues.error ? <Problem error={queues.error} /> : null}
      {queues.data !== undefined && queue === undefined ? (
        <Empty title="Queue not found">It may have been deleted, or belong to another team.</Empty>
      ) : null}
      {queues.isPending || stats.isPending || !isReady ? (
        <Skeletons rows={12} />
      ) : (
        <>
          {queue === undefined || queue.breaker === false ? null : <OpenBreakers queue={name} />}
          {stats.data === undefined || series === undefined ? null : (
            <>
              <Tiles stats={stats.data} series={series} />
              <Charts stats={stats.data} series={series} />
            </>
          )}
          {queue === undefined ? null : (
            <div className="two">
              <Panel title="Tasks">
                <dl className="facts">
                  {STATUSES.map((status) => (
                    <Fragment key={status}>
                      <dt>
                        <State status={status} />
                      </dt>
                      <dd>
                        <Link to="/tasks" search={{ queue: name, status }} className="link">
                          <Count of={queue.stats[status]} />
                        </Link>
                      </dd>
                    </Fragment>
                  ))}
                </dl>
              </Panel>
              <Settings queue={queue} />
            </div>
          )}
        </>
      )}
    </Page>
  );
}

function Settings({ queue }: { readonly queue: Queue }) {
  const facts = [
    ["Concurrency", `${plural(queue.concurrency, "call")} at once, over all nodes`],
    [
      "Rate",
      queue.rate === false
        ? "none"
        : `${plural(queue.rate, "call")} begun in ${formatDuration((queue.ratePeriod ?? 1) * 1000)}`,
    ],
    ["Order", orderOf(queue)],
    ["Timeout", formatDuration(queue.timeout * 1000)],
    ["Retries", queue.maxRetries],
    [
      "Backoff",
      `${queue.retryBackoff}, from ${formatDuration(queue.retryDelay * 1000)} to ${formatDuration(queue.retryMaxDelay * 1000)}`,
    ],
    ["Circuit breaker", breakerOf(queue)],
    ["Not retried on", queue.noRetryStatuses.join(", ") || "–"],
    ["Created", <Moment key="created" at={queue.createdAt} />],
    ["Changed", <Moment key="changed" at={queue.updatedAt} />],
  ] as const;
  return (
    <Panel title="Settings">
      <Facts facts={facts} />
    </Panel>
  );
}

function breakerOf({ breaker }: Queue): string {
  if (breaker === false) return "none";
  const { failures, ratio, within, cooldown } = breaker;
  return `opens for a host at ${plural(failures, "failure")} and ${Math.round(ratio * 100)} % within ${formatDuration(within * 1000)}, for ${formatDuration(cooldown * 1000)}`;
}

function orderOf({ ordered, onFailure }: Queue): string {
  if (!ordered) return "by priority, then by due time";
  return `strict: in the order of creation; a failed task ${onFailure === "block" ? "stops the line" : "is passed"}`;
}

/** Keeps the place of the actions: the page below would move when they come. */
function NoActions({ isPending }: { readonly isPending: boolean }) {
  const mayAct = useMay("member");
  if (!isPending || !mayAct) return null;
  return ["Pause", "Settings …", "Delete …"].map((title) => (
    <Button key={title} disabled>
      {title}
    </Button>
  ));
}

function QueueActions({ queue }: { readonly queue: Queue }) {
  const navigate = useNavigate();
  const mayAct = useMay("member");
  const pause = usePause();
  const isSandbox = useSandbox().sandbox !== undefined;
  const [opened, open] = useState<"settings" | "delete" | null>(null);
  const remove = useAct(
    () => bellhop.queues.delete(queue.name),
    ({ tasksDeleted }) => {
      void navigate({ to: "/queues" });
      return `Deleted ${queue.name} and ${plural(tasksDeleted, "pending task")}`;
    },
  );
  if (!mayAct) return null;
  return (
    <>
      <Button onClick={() => pause.mutate({ names: [queue.name], isPaused: !queue.paused })}>
        {queue.paused ? "Resume" : "Pause"}
      </Button>
      <Button onClick={() => open("settings")}>Settings …</Button>
      {queue.name === "default" ? null : <Button onClick={() => open("delete")}>Delete …</Button>}
      {opened === "settings" ? <QueueDialog queue={queue} onClose={() => open(null)} /> : null}
      {opened === "delete" ? (
        <Confirm
          title={`Delete ${queue.name}?`}
          action="Delete the queue"
          typed={queue.name}
          isBusy={remove.isPending}
          onClose={() => open(null)}
          onConfirm={() => remove.mutate(undefined)}
        >
          <p>
            <strong>
              {isSandbox
                ? "Its pending tasks, also those outside of the sandbox,"
                : plural(queue.stats.pending, "pending task")}
            </strong>{" "}
            would be lost, and there is no way back. Calls under way finish; one that fails then is not tried
            again. Tasks that ended stay readable.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}
