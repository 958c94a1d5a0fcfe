import type { Task } from "@bellhop/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { pageText } from "../../data/client.ts";
import { prettyText } from "../../data/exact-json.ts";
import { formatDuration, plural } from "../../data/format.ts";
import { Code } from "../../parts/copy.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Panel } from "../../parts/page.tsx";
import { PollFlow } from "../../parts/poll-flow.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { ResponseCode } from "../../parts/target.tsx";
import { Ago, Moment } from "../../parts/time.tsx";

/** The settings that count for this task, and what it belongs to. */
export function Details({ task }: { readonly task: Task }) {
  return (
    <>
      <Panel title="Settings">
        <Facts facts={factsOf(task)} />
      </Panel>
      {task.pollConfig === undefined ? null : (
        <Panel title="How its job is polled">
          <div className="stack">
            <PollFlow config={task.pollConfig} />
            {task.polls === undefined && task.status !== "polling" ? null : <Polls task={task} />}
          </div>
        </Panel>
      )}
      {task.notifications === undefined || task.notifications.length === 0 ? null : (
        <Panel title="Notifications of its end" flush>
          <Table rows={task.notifications} keyOf={({ url }) => url} columns={NOTIFICATION_COLUMNS} />
        </Panel>
      )}
    </>
  );
}

type Notification = NonNullable<Task["notifications"]>[number];

const NOTIFICATION_COLUMNS: readonly Column<Notification>[] = [
  { title: "URL", kind: "main", cell: ({ url }) => <span className="wrap">{url}</span> },
  {
    title: "State",
    cell: ({ status }) => (
      <span style={{ color: status === "failed" ? "var(--failed)" : undefined }}>{status}</span>
    ),
  },
  { title: "Tries", kind: "num", label: "tries", cell: ({ attempts }) => attempts },
  {
    title: "Last error",
    cell: ({ lastError }) => <span className="wrap">{lastError ?? "–"}</span>,
  },
  { title: "Next", at: ({ nextAt }) => nextAt },
];

/** How it went so far: an answer that ends the task is its result. */
function Polls({ task: { polls, runAt, status } }: { readonly task: Task }) {
  return (
    <Facts
      facts={[
        ["Polls so far", polls?.count ?? 0],
        ["Last poll", polls && <Ago key="last" at={polls.lastAt} />],
        ["Answered", polls && <Answer key="answer" answer={polls.lastAnswer} />],
        ["Told nothing", polls?.lastError],
        ["Next poll", status === "polling" ? <Ago key="next" at={runAt} /> : undefined],
      ]}
    />
  );
}

function Answer({ answer }: { readonly answer: string }) {
  const code = Number(answer);
  return Number.isNaN(code) ? (
    <span style={{ color: "var(--failed)" }}>{answer}</span>
  ) : (
    <ResponseCode code={code} />
  );
}

function factsOf(task: Task): readonly (readonly [string, ReactNode])[] {
  const retry = `${task.retryBackoff}, from ${formatDuration(task.retryDelay * 1000)} to ${formatDuration(task.retryMaxDelay * 1000)}`;
  return [
    [
      "Queue",
      <Link key="queue" to="/queues/$name" params={{ name: task.queue }} className="link">
        {task.queue}
      </Link>,
    ],
    [
      "Flow",
      task.flow === undefined ? undefined : (
        <Link key="flow" to="/flows" search={{ search: task.flow }} className="link">
          {task.flow}
        </Link>
      ),
    ],
    ["Priority", task.priority],
    ["Due", <Moment key="due" at={task.runAt} />],
    ["Timeout", formatDuration(task.timeout * 1000)],
    ["Retries", task.maxRetries === 0 ? "none" : `${task.maxRetries}, ${retry}`],
    ["Not retried on", task.noRetryStatuses?.join(", ")],
    [
      "Expires",
      task.expiresIn === undefined
        ? undefined
        : `${formatDuration(task.expiresIn * 1000)} after its creation`,
    ],
    [
      "Callback",
      task.waitForCallback === true
        ? `awaited, for ${formatDuration((task.maxWait ?? 3600) * 1000)} at most`
        : undefined,
    ],
    ["Provider", task.provider],
    ["Told when it ends", task.onCompleteUrl],
    ["Retried by hand", task.retries === undefined ? undefined : plural(task.retries, "time")],
    [
      "Schedule",
      task.schedule === undefined ? undefined : (
        <Link key="schedule" to="/schedules/$name" params={{ name: task.schedule }} className="link">
          {task.schedule}
        </Link>
      ),
    ],
    ...Object.entries(task.metadata ?? {}).map(([name, value]) => [`metadata ${name}`, value] as const),
  ];
}

/** As the API answers it, every figure as it was written. */
export function RawRecord({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false);
  const record = useQuery({
    queryKey: ["raw-task", id],
    queryFn: () => pageText(`/v1/tasks/${encodeURIComponent(id)}`),
    enabled: isOpen,
  });
  return (
    <details className="panel" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="panel-body" style={{ cursor: "pointer" }}>
        Raw record
      </summary>
      <div className="panel-body">
        {record.data === undefined ? null : <Code text={prettyText(record.data)} />}
      </div>
    </details>
  );
}
