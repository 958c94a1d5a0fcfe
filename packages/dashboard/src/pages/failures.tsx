import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useBreakers } from "../data/breakers.ts";
import { formatCount } from "../data/format.ts";
import { useRange } from "../data/ranges.ts";
import { useMay } from "../data/session.ts";
import type { FailureGroup } from "../data/stats.ts";
import { useFailures } from "../data/stats-query.ts";
import { wordsOf } from "../data/task.ts";
import { searchOf } from "../data/task-search.ts";
import { BulkDialog, type BulkKind } from "../parts/bulk-dialog.tsx";
import { ExportMenu } from "../parts/export-menu.tsx";
import { List } from "../parts/list-page.tsx";
import { Empty, Page, PageHead, Skeletons } from "../parts/page.tsx";
import { RangePicker } from "../parts/range-picker.tsx";
import { RowButton } from "../parts/row-button.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import type { Column } from "../parts/table.tsx";
import { OpenBreakers } from "./queues/open-breakers.tsx";

/** Of tags and metadata together. */
const MOST_TOPS = 4;

interface Asked {
  readonly kind: BulkKind;
  readonly group: FailureGroup;
}

/** Failures by queue, host, kind and what the target says: an outage is one row, however many tasks it has cost. */
export function Failures() {
  const range = useRange();
  const { isReady } = useBreakers();
  const groups = useFailures(range);
  const mayAct = useMay("member");
  const [asked, ask] = useState<Asked | null>(null);
  return (
    <Page title="Failures">
      <PageHead title="Failures">
        <ExportMenu
          name="failures"
          rows={groups.data ?? []}
          toRow={({ course: _course, topTags: _tags, topMetadata: _metadata, ...group }) => group}
        />
        <RangePicker />
      </PageHead>
      {/* The breakers stand above the groups, which would move when they come. */}
      {isReady ? (
        <>
          <OpenBreakers />
          <section className="panel">
            <List
              query={groups}
              rows={6}
              keyOf={keyOf}
              columns={columnsOf(mayAct ? ask : null)}
              empty={
                <Empty title="No task failed in this time">
                  Failed tasks are grouped here by queue, host and what the target said, so that an outage is
                  one row that can be retried as a whole.
                </Empty>
              }
            />
          </section>
        </>
      ) : (
        <Skeletons rows={6} />
      )}
      {asked === null ? null : (
        <BulkDialog kind={asked.kind} filter={asked.group.filter} onClose={() => ask(null)} />
      )}
    </Page>
  );
}

function keyOf({ queue, host, failureReason, responseCode, filter }: FailureGroup): string {
  return [queue, host, failureReason, responseCode, filter.error].join(" ");
}

function reasonOf({ failureReason }: FailureGroup): string | null {
  return REASONS[failureReason ?? ""] ?? failureReason;
}

const REASONS: Readonly<Record<string, string>> = {
  retries_exhausted: "all attempts failed",
  poll_failed: "the provider's job failed",
  poll_timeout: "its job took too long",
  callback_timeout: "no callback",
  token_revoked: "vault token revoked",
  blocked: "blocked by policy",
  worker_lost: "its processes crashed",
  not_retryable: "not to be retried",
  expired: "expired",
  queue_deleted: "queue deleted",
};

function columnsOf(ask: ((asked: Asked) => void) | null): readonly Column<FailureGroup>[] {
  return [
    {
      title: "Host",
      kind: "main",
      width: "17%",
      cell: (group) => (
        <Link to="/tasks" search={searchOf(group.filter)} className="row" title="Show these tasks">
          <span className="clip">{group.host || "no host"}</span>
        </Link>
      ),
    },
    {
      title: "What it says",
      width: "36%",
      cell: (group) => (
        <>
          <Link to="/tasks" search={searchOf(group.filter)} className="wrap" title={group.error}>
            {group.responseCode === null ? null : (
              <strong style={{ color: "var(--failed)" }}>{group.responseCode} </strong>
            )}
            {wordsOf(group.error)}
            <span className="block small muted">{reasonOf(group)}</span>
          </Link>
          <Tops group={group} />
        </>
      ),
    },
    {
      title: "Queue",
      cell: ({ queue }) => (
        <Link to="/queues/$name" params={{ name: queue }} className="muted">
          {queue}
        </Link>
      ),
    },
    {
      title: "Tasks",
      kind: "num",
      label: "tasks",
      cell: ({ count, countIsCapped }) => (
        <strong title={count.toLocaleString("en-US")}>
          {formatCount(count)}
          {countIsCapped ? "+" : ""}
        </strong>
      ),
    },
    {
      title: "Course",
      kind: "desk",
      width: 130,
      cell: ({ course }) => <Sparkline failed={course} label="When they failed, in the range" />,
    },
    { title: "First", at: ({ firstSeen }) => firstSeen },
    { title: "Last", at: ({ lastSeen }) => lastSeen },
    {
      actions: (group) => (
        <>
          <Button
            size="compact-xs"
            renderRoot={(props) => <Link to="/tasks/$id" params={{ id: group.sampleTask }} {...props} />}
          >
            Sample
          </Button>
          {ask === null ? null : (
            <>
              <RowButton onClick={() => ask({ kind: "retry", group })}>Retry …</RowButton>
              <RowButton onClick={() => ask({ kind: "dismiss", group })}>Dismiss …</RowButton>
            </>
          )}
        </>
      ),
    },
  ];
}

/** The tags and the metadata that most of them have, each leading to those of the group that have it. */
function Tops({ group: { topTags, topMetadata, filter } }: { readonly group: FailureGroup }) {
  const tops = [
    ...topTags.map(({ tag, count }) => ({ text: tag, count, search: { tag } })),
    ...topMetadata.map(({ key, value, count }) => ({
      text: `${key}=${value}`,
      count,
      search: { metadata: `${key}=${value}` },
    })),
  ].toSorted((one, other) => other.count - one.count);
  return (
    <span className="row loose" style={{ gap: 4 }}>
      {tops.slice(0, MOST_TOPS).map(({ text, count, search }) => (
        <Link key={text} to="/tasks" search={{ ...searchOf(filter), ...search }} className="tag" title={text}>
          <span className="clip">{text}</span> <span className="num">{formatCount(count)}</span>
        </Link>
      ))}
    </span>
  );
}
