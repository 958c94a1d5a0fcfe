import type { TaskSummary } from "@bellhop/sdk";
import { Button } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { ExportRow } from "../data/csv.ts";
import type { Total } from "../data/format.ts";
import { useQueues } from "../data/queues.ts";
import { useSandbox } from "../data/sandbox.ts";
import { useMay } from "../data/session.ts";
import { STATUSES, type Status } from "../data/status.ts";
import { curlOfCreation, urlOf } from "../data/task.ts";
import { useTaskList } from "../data/task-list.ts";
import type { TaskSearch } from "../data/task-search.ts";
import { ExportMenu } from "../parts/export-menu.tsx";
import { Icon } from "../parts/icon.tsx";
import { TotalCount } from "../parts/numbers.tsx";
import { Empty, Page, PageHead, Problem, Skeletons } from "../parts/page.tsx";
import { StateMark, toneOf } from "../parts/state.tsx";
import { AllMenu, type Asked, AskedAction, SelectionBar } from "./tasks/bulk-bar.tsx";
import { Filters } from "./tasks/filters.tsx";
import { TaskRows } from "./tasks/task-rows.tsx";

export function Tasks() {
  // What was selected among live tasks is not selected in the sandbox.
  return <TasksPage key={useSandbox().sandbox ?? "live"} />;
}

function TasksPage() {
  const search = useSearch({ from: "/tasks" });
  const navigate = useNavigate({ from: "/tasks" });
  const mayAct = useMay("member");
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  const [asked, ask] = useState<Asked | null>(null);
  const [isScrolled, setScrolled] = useState(false);
  const list = useTaskList(search, isScrolled || selected.size > 0 || asked !== null);
  const setSearch = (next: TaskSearch) => {
    select(new Set());
    return navigate({ search: next, replace: true });
  };
  return (
    <Page title="Tasks">
      <PageHead title="Tasks">
        {mayAct ? (
          <Button
            variant="filled"
            leftSection={<Icon name="plus" size={14} />}
            renderRoot={(props) => <Link to="/new" {...props} />}
          >
            New task
          </Button>
        ) : null}
      </PageHead>
      <StatusTabs
        search={search}
        total={list.total}
        onChange={(status) => setSearch({ ...search, status })}
      />
      <Filters search={search} onChange={setSearch}>
        {mayAct ? <AllMenu search={search} total={list.total} /> : null}
        <ExportMenu name="tasks" rows={list.rows} toRow={exportRow} />
      </Filters>
      <section className="panel" style={{ position: "relative" }} aria-label="Tasks">
        <SelectionBar
          rows={list.rows}
          selected={selected}
          search={search}
          total={list.total}
          onAsk={ask}
          onClear={() => select(new Set())}
        />
        {asked === null ? null : (
          <AskedAction
            rows={list.rows}
            asked={asked}
            onDone={() => {
              select(new Set());
              ask(null);
            }}
            onClose={() => ask(null)}
          />
        )}
        {list.newCount > 0 ? (
          <button
            type="button"
            className="new-rows"
            onClick={() => {
              select(new Set());
              list.showNew();
              document.querySelector(".list")?.scrollTo({ top: 0 });
            }}
          >
            {list.newCount >= 100 ? "100+" : list.newCount} new
          </button>
        ) : null}
        {list.rows.length > 0 ? (
          <TaskRows
            rows={list.rows}
            selected={mayAct ? selected : null}
            onSelect={select}
            onAsk={ask}
            onScrolled={setScrolled}
            onEnd={list.hasOlder ? list.fetchOlder : null}
          />
        ) : list.isReady ? (
          <Nothing search={search} />
        ) : list.error ? (
          <div className="panel-body">
            <Problem error={list.error} />
          </div>
        ) : (
          <Skeletons rows={12} />
        )}
      </section>
    </Page>
  );
}

/** Without headers, which may name credentials. */
function exportRow(task: TaskSummary): ExportRow {
  const { id, status, queue, method, attemptCount, createdAt, completedAt, error, failureReason } = task;
  const { tags = [], metadata = {}, result } = task;
  return {
    id,
    status,
    queue,
    method,
    url: urlOf(task),
    attempts: attemptCount,
    code: result?.statusCode,
    error,
    failureReason,
    createdAt,
    completedAt,
    tags: tags.join(" "),
    metadata,
  };
}

function Nothing({ search: { sandbox, ...filters } }: { readonly search: TaskSearch }) {
  if (Object.keys(filters).length > 0) {
    return (
      <Empty title="No task matches">
        Remove a filter, or see{" "}
        <Link to="/tasks" className="link">
          all tasks
        </Link>
        .
      </Empty>
    );
  }
  const body = {
    queue: "default",
    webhook_url: "http://127.0.0.1:9000/welcome",
    payload: { user: 42 },
    delay: 2,
  };
  if (sandbox === "true") {
    return (
      <Empty
        title="The sandbox is empty"
        code={curlOfCreation({ ...body, simulate: { outcome: "complete" } }, window.location.origin)}
      >
        Tasks of test keys are here: stored, answered, and never called. With a key that begins with{" "}
        <code>bh_test_</code> this makes one that goes as it says.
      </Empty>
    );
  }
  return (
    <Empty title="No tasks yet" code={curlOfCreation(body, window.location.origin)}>
      A task is one HTTP call that Bellhop makes for you, later and reliably. This makes the first one,
      against <code>npm run bellhop echo</code>;{" "}
      <Link to="/new" className="link">
        New task
      </Link>{" "}
      does it from here.
    </Empty>
  );
}

/** Counts come with the queues, and hold for all tasks or one queue's: with other filters only the open tab has one. */
function StatusTabs({
  search,
  total,
  onChange,
}: {
  readonly search: TaskSearch;
  readonly total: Total | null;
  readonly onChange: (status: Status | undefined) => void;
}) {
  const queues = useQueues();
  const { status: current, queue, sandbox: _sandbox, ...others } = search;
  const isCounted = Object.keys(others).length === 0 && queues.data !== undefined;
  const counted = (queues.data ?? []).filter(({ name }) => queue === undefined || name === queue);
  const countOf = (status: Status) => counted.reduce((sum, { stats }) => sum + stats[status], 0);
  const all = STATUSES.reduce((sum, status) => sum + countOf(status), 0);
  const tab = (status: Status | undefined, count: number) => {
    const isCurrent = status === current;
    const shown = isCounted ? { count, isCapped: false } : isCurrent ? total : null;
    return (
      <button
        key={status ?? "all"}
        type="button"
        role="tab"
        className="tab"
        aria-selected={isCurrent}
        onClick={() => onChange(status)}
      >
        {status === undefined ? null : (
          <span className="state" style={toneOf(status)}>
            <StateMark status={status} size={11} />
          </span>
        )}
        {status === undefined ? "All" : status[0]?.toUpperCase() + status.slice(1)}
        {shown === null ? null : (
          <span className="num">
            <TotalCount of={shown} />
          </span>
        )}
      </button>
    );
  };
  return (
    <div className="tabs" role="tablist" aria-label="States">
      {tab(undefined, all)}
      {STATUSES.map((status) => tab(status, countOf(status)))}
    </div>
  );
}
