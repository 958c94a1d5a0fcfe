import { formatDuration, formatPercent, formatRate } from "../data/format.ts";
import { useNow } from "../data/now.ts";
import { type Changed, type QueueSeries, type Stats, summarize } from "../data/stats.ts";
import { Ago } from "./time.tsx";

/** Six numbers of now, each with how it differs from the range before. */
export function Tiles({ stats, series }: { readonly stats: Stats; readonly series: QueueSeries }) {
  const now = useNow();
  const { createdPerMinute, completedPerMinute, failureShare, waitP95, durationP95 } = summarize(
    stats,
    series,
  );
  const oldest = series.oldestPendingAt;
  const isLate = oldest !== null && now - new Date(oldest).getTime() > 60_000;
  return (
    <dl className="tiles">
      <Tile title="Created" of={createdPerMinute} format={formatRate} />
      <Tile title="Completed" of={completedPerMinute} format={formatRate} />
      <Tile
        title="Failure rate"
        of={failureShare}
        format={formatPercent}
        isBad={(failureShare.now ?? 0) >= 0.05}
        isShare
      />
      <div>
        <dt>Oldest pending</dt>
        <dd data-bad={isLate}>{oldest === null ? "none" : <Ago at={oldest} bare />}</dd>
        <dd className="change">due, not begun</dd>
      </div>
      <Tile title="Wait, p95" of={waitP95} format={formatDuration} />
      <Tile title="Duration, p95" of={durationP95} format={formatDuration} />
    </dl>
  );
}

function Tile({
  title,
  of: { now, before },
  format,
  isBad = false,
  isShare = false,
}: {
  readonly title: string;
  readonly of: Changed;
  readonly format: (value: number) => string;
  readonly isBad?: boolean;
  readonly isShare?: boolean;
}) {
  return (
    <div title="The last five minutes, compared with the range before">
      <dt>{title}</dt>
      <dd data-bad={isBad}>{now === null ? "–" : format(now)}</dd>
      <dd className="change">{changeText(now, before, isShare)}</dd>
    </div>
  );
}

function changeText(now: number | null, before: number | null, isShare: boolean): string {
  if (now === null || before === null) return "nothing before";
  if (isShare) {
    const points = (now - before) * 100;
    return Math.abs(points) < 0.1 ? "as before" : `${arrow(points)} ${Math.abs(points).toFixed(1)} points`;
  }
  if (before === 0) return now === 0 ? "as before" : "none before";
  const change = now / before - 1;
  if (Math.abs(change) < 0.02) return "as before";
  if (change > 9) return `${arrow(change)} ${Math.round(change + 1)} times`;
  return `${arrow(change)} ${Math.round(Math.abs(change) * 100)} %`;
}

function arrow(change: number): string {
  return change > 0 ? "↑" : "↓";
}
