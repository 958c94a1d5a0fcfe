import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { formatPercent, plural } from "../data/format.ts";
import { type Queue, usePause, useQueues } from "../data/queues.ts";
import { useMay } from "../data/session.ts";
import { failureShare, type QueueSeries } from "../data/stats.ts";
import { useStats } from "../data/stats-query.ts";
import { Depth } from "../parts/depth.tsx";
import { ExportMenu } from "../parts/export-menu.tsx";
import { Icon } from "../parts/icon.tsx";
import { Count } from "../parts/numbers.tsx";
import { Loaded, Page, PageHead } from "../parts/page.tsx";
import { RowButton } from "../parts/row-button.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { QueueDialog } from "./queues/queue-dialog.tsx";

interface Row {
  readonly queue: Queue;
  readonly series: QueueSeries | null;
}

const PENDING = { data: undefined, error: null };

export function Queues() {
  const mayAct = useMay("member");
  const queues = useQueues();
  const stats = useStats("1h");
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  const [isCreating, setCreating] = useState(false);
  const pause = usePause();
  const seriesOf = (name: string) => stats.data?.queues.find(({ queue }) => queue === name) ?? null;
  const act = (isPaused: boolean) => {
    pause.mutate({ names: [...selected], isPaused });
    select(new Set());
  };
  return (
    <Page title="Queues">
      <PageHead title="Queues">
        {selected.size === 0 ? null : (
          <>
            <span className="muted">{selected.size} selected</span>
            <Button onClick={() => act(true)}>Pause</Button>
            <Button onClick={() => act(false)}>Resume</Button>
          </>
        )}
        <ExportMenu
          name="queues"
          rows={queues.data ?? []}
          toRow={({ stats: counts, ...queue }) => ({ ...queue, ...counts })}
        />
        {mayAct ? (
          <Button
            variant="filled"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => setCreating(true)}
          >
            New queue
          </Button>
        ) : null}
      </PageHead>
      <section className="panel">
        {/* Their order depends on the failures: rows would change places when those come. */}
        <Loaded query={stats.isPending ? PENDING : queues} rows={8}>
          {(known) => {
            const rows = known.map((queue) => ({ queue, series: seriesOf(queue.name) })).toSorted(worstFirst);
            const max = Math.max(...rows.map(({ queue }) => openOf(queue)));
            return (
              <Table
                rows={rows}
                keyOf={({ queue }) => queue.name}
                columns={columnsOf({
                  max,
                  selected: mayAct ? selected : null,
                  onToggle: (name) => {
                    const next = new Set(selected);
                    if (!next.delete(name)) next.add(name);
                    select(next);
                  },
                  onPause: (name, isPaused) => pause.mutate({ names: [name], isPaused }),
                })}
              />
            );
          }}
        </Loaded>
      </section>
      {isCreating ? <QueueDialog onClose={() => setCreating(false)} /> : null}
    </Page>
  );
}

function openOf({ stats }: Queue): number {
  return stats.pending + stats.active + stats.waiting + stats.polling;
}

/** Paused with tasks, then the oldest waiting, then the one that fails most. */
function worstFirst(one: Row, other: Row): number {
  return badness(other) - badness(one) || one.queue.name.localeCompare(other.queue.name);
}

function badness({ queue, series }: Row): number {
  const paused = queue.paused && queue.stats.pending > 0 ? 1e12 : 0;
  const oldest = series?.oldestPendingAt ? Date.now() - new Date(series.oldestPendingAt).getTime() : 0;
  // Below half a minute a wait is no sign: queues would change places with every look.
  const late = oldest > 30_000 ? Math.round(oldest / 30_000) * 1000 : 0;
  return paused + late + Math.round(((series && failureShare(series)) ?? 0) * 100);
}

function columnsOf({
  max,
  selected,
  onToggle,
  onPause,
}: {
  readonly max: number;
  readonly selected: ReadonlySet<string> | null;
  readonly onToggle: (name: string) => void;
  readonly onPause: (name: string, isPaused: boolean) => void;
}): readonly Column<Row>[] {
  const columns: Column<Row>[] = [
    {
      title: "Queue",
      kind: "main",
      sort: ({ queue }) => queue.name,
      width: "18%",
      cell: ({ queue }) => (
        <span className="row">
          {selected === null ? null : (
            <label className="hit">
              <input
                type="checkbox"
                aria-label={`Select ${queue.name}`}
                checked={selected.has(queue.name)}
                onChange={() => onToggle(queue.name)}
              />
            </label>
          )}
          <Link to="/queues/$name" params={{ name: queue.name }} className="clip">
            {queue.name}
          </Link>
          {queue.paused ? <span className="tag warn">paused</span> : null}
        </span>
      ),
    },
    {
      title: "Depth",
      sort: ({ queue }) => openOf(queue),
      kind: "desk",
      width: "20%",
      cell: ({ queue }) => <Depth counts={queue.stats} max={max} />,
    },
    {
      title: "Pending",
      sort: ({ queue }) => queue.stats.pending,
      kind: "num",
      label: "pending",
      cell: ({ queue }) => (
        <Link to="/tasks" search={{ queue: queue.name, status: "pending" }}>
          <Count of={queue.stats.pending} />
        </Link>
      ),
    },
    {
      title: "Slots",
      sort: ({ queue }) => queue.stats.active / queue.concurrency,
      kind: "num",
      label: "slots",
      cell: ({ queue }) => (
        <span title={`${plural(queue.stats.active, "call")} in flight of at most ${queue.concurrency}`}>
          {queue.stats.active} of {queue.concurrency}
        </span>
      ),
    },
    {
      title: "Oldest pending",
      sort: ({ series }) =>
        series?.oldestPendingAt ? -new Date(series.oldestPendingAt).getTime() : -Infinity,
      kind: "num",
      label: "oldest",
      cell: ({ series }) => <Ago at={series?.oldestPendingAt} bare />,
    },
    {
      title: "Failure rate",
      sort: ({ series }) => (series === null ? -1 : (failureShare(series) ?? -1)),
      kind: "num",
      label: "failing",
      cell: ({ series }) => {
        const share = series === null ? null : failureShare(series);
        if (share === null) return <span className="muted">–</span>;
        return (
          <span style={{ color: share >= 0.05 ? "var(--failed)" : undefined }}>{formatPercent(share)}</span>
        );
      },
    },
    {
      title: "Last hour",
      sort: ({ series }) => series?.created.reduce((sum, count) => sum + count, 0) ?? 0,
      kind: "desk",
      width: 140,
      cell: ({ series }) =>
        series === null ? null : (
          <Sparkline
            completed={series.completed}
            failed={series.failed}
            label="Last hour: completed above the line, failed below"
          />
        ),
    },
  ];
  if (selected === null) return columns;
  return [
    ...columns,
    {
      actions: ({ queue }) => (
        <RowButton onClick={() => onPause(queue.name, !queue.paused)}>
          {queue.paused ? "Resume" : "Pause"}
        </RowButton>
      ),
    },
  ];
}
