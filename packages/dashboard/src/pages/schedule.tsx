import { Button } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { toString as cronInWords } from "cronstrue";
import { useState } from "react";
import { bellhop } from "../data/client.ts";
import { formatTime } from "../data/format.ts";
import { useLiveQuery } from "../data/live.ts";
import { useScheduleActions } from "../data/schedules.ts";
import { useMay } from "../data/session.ts";
import { Facts } from "../parts/facts.tsx";
import { List } from "../parts/list-page.tsx";
import { Loaded, Page, PageHead, Panel } from "../parts/page.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { ResponseCode } from "../parts/target.tsx";
import { Ago, Duration, Moment } from "../parts/time.tsx";
import { ScheduleDialog } from "./schedules/schedule-dialog.tsx";

const FIRINGS = 50;

/** One schedule: its next times, in its zone and the reader's, and its latest tasks with their state. */
export function SchedulePage() {
  const { name } = useParams({ from: "/schedules/$name" });
  const mayAct = useMay("member");
  const [isEditing, setEditing] = useState(false);
  const schedule = useLiveQuery(["schedules", name], ({ signal }) => bellhop.schedules.get(name, { signal }));
  const id = schedule.data?.id;
  const firings = useLiveQuery(
    ["tasks", "of schedule", id],
    async ({ signal }) =>
      (await bellhop.tasks.page({ schedule: id ?? "", limit: FIRINGS }, { signal })).tasks,
    { enabled: id !== undefined },
  );
  const { run, pause, resume } = useScheduleActions(name);
  const isPaused = schedule.data?.paused === true;
  const isUnknown = schedule.data === undefined;
  return (
    <Page title={name}>
      <PageHead
        title={
          <span className="row">
            {name}
            {isPaused ? <span className="tag warn">paused</span> : null}
          </span>
        }
      >
        {mayAct ? (
          <>
            <Button
              variant="filled"
              disabled={isUnknown}
              loading={run.isPending}
              onClick={() => run.mutate(undefined)}
            >
              Run now
            </Button>
            <Button disabled={isUnknown} onClick={() => (isPaused ? resume : pause).mutate(undefined)}>
              {isPaused ? "Resume" : "Pause"}
            </Button>
            <Button disabled={isUnknown} onClick={() => setEditing(true)}>
              Change …
            </Button>
          </>
        ) : null}
      </PageHead>
      <Loaded query={schedule} rows={10}>
        {(known) => (
          <>
            <div className="two">
              <Panel title="When">
                <Facts
                  facts={[
                    ["In words", wordsOf(known.cron)],
                    ["Cron", <code key="cron">{known.cron}</code>],
                    ["Time zone", known.timezone],
                    [
                      "Overlap",
                      known.overlap === "skip"
                        ? "skips a run while the task of the last one is open"
                        : "runs although the task of the last one is open",
                    ],
                    ["Missed runs", known.catchUp === "one" ? "one run for all that were missed" : "skipped"],
                    [
                      "Last error",
                      known.lastError === null ? null : (
                        <span key="error" className="wrap" style={{ color: "var(--failed)" }}>
                          {known.lastError.error} <Ago at={known.lastError.at} />
                        </span>
                      ),
                    ],
                  ]}
                />
              </Panel>
              <Panel title="Next times" flush>
                {known.nextRuns.length === 0 ? (
                  <p className="panel-body muted">None while it is paused.</p>
                ) : (
                  <Table
                    rows={known.nextRuns}
                    keyOf={(at) => at}
                    columns={[
                      {
                        title: known.timezone,
                        kind: "main",
                        label: known.timezone,
                        cell: (at) => <span>{timeIn(at, known.timezone)}</span>,
                      },
                      { title: "Here", label: "here", cell: (at) => <Moment at={at} /> },
                      { title: "Runs", at: (at) => at },
                    ]}
                  />
                )}
              </Panel>
            </div>
            <Panel
              title="What it has made"
              flush
              actions={
                id === undefined ? null : (
                  <Link to="/tasks" search={{ schedule: id }} className="link small">
                    All of them
                  </Link>
                )
              }
            >
              <List
                query={firings}
                keyOf={(task) => task.id}
                empty="It has made no task yet."
                columns={[
                  {
                    title: "State",
                    kind: "main",
                    cell: (task) => (
                      <Link to="/tasks/$id" params={{ id: task.id }}>
                        <State status={task.status} />
                      </Link>
                    ),
                  },
                  {
                    title: "Answer",
                    cell: ({ result, error }) => (
                      <span className="row" title={error}>
                        <ResponseCode code={result?.statusCode} />
                        <span className="muted small wrap">{error}</span>
                      </span>
                    ),
                  },
                  {
                    title: "Took",
                    kind: "num",
                    label: "took",
                    cell: ({ result }) => <Duration ms={result?.duration} />,
                  },
                  { title: "Fired", at: ({ createdAt }) => createdAt },
                ]}
              />
            </Panel>
          </>
        )}
      </Loaded>
      {isEditing && id !== undefined ? <ScheduleDialog id={id} onClose={() => setEditing(false)} /> : null}
    </Page>
  );
}

/** Null for an expression that the library does not know. */
function wordsOf(cron: string): string | null {
  try {
    return cronInWords(cron, { use24HourTimeFormat: true, verbose: true });
  } catch {
    return null;
  }
}

/** As `formatTime` writes it, in another zone. */
function timeIn(at: string, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" }).format(
      new Date(at),
    );
  } catch {
    return formatTime(new Date(at));
  }
}
