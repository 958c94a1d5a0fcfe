import { formatDuration, formatPercent, formatRate } from "../data/format.ts";
import { useNow } from "../data/now.ts";
import { type Changed, type QueueSeries, type Stats, summarize } from "../data/stats.ts";
import { Ago } from "./time.tsx";

/** Six numbers of now, each with how it differs from the range before. */
export function Tiles({ stats, series }: { readonly stats: Stats; readonly series: QueueSeries }) {
  const now = useNow();
  const { recentSeconds, createdPerMinute, completedPerMinute, failureShare, waitP95, durationP95 } =
    summarize(stats, series);
  const window = formatDuration(recentSeconds * 1000).replace(/ m$/, " min");
  const oldest = series.oldestPendingAt;
  const isLate = oldest !== null && now - new Date(oldest).getTime() > 60_000;
  return (
    <dl className="tiles">
      <Tile title="Created" window={window} of={createdPerMinute} format={formatRate} />
      <Tile title="Completed" window={window} of={completedPerMinute} format={formatRate} />
      <Tile
        title="Failure rate"
        window={window}
        of={failureShare}
        format={formatPercent}
        isBad={(failureShare.now ?? 0) >= 0.05}
        isShare
      />
      <div>
        <dt>
          Oldest pending <span className="window">now</span>
        </dt>
        <dd data-bad={isLate}>{oldest === null ? "none" : <Ago at={oldest} bare />}</dd>
        <dd className="change">due, not begun</dd>
      </div>
      <Tile title="Wait, p95" window={window} of={waitP95} format={formatDuration} />
      <Tile title="Duration, p95" window={window} of={durationP95} format={formatDuration} />
    </dl>
  );
}

function Tile({
  title,
  window,
  of,
  format,
  isBad = false,
  isShare = false,
}: {
  readonly title: string;
  /** How long a time the number stands for. */
  readonly window: string;
  readonly of: Changed;
  readonly format: (value: number) => string;
  readonly isBad?: boolean;
  readonly isShare?: boolean;
}) {
  return (
    <div title={`The last ${window}, compared with the range before`}>
      <dt>
        {title} <span className="window">last {window}</span>
      </dt>
      <dd data-bad={isBad}>{of.now === null ? "–" : format(of.now)}</dd>
      <dd className="change">{changeText(of, isShare)}</dd>
    </div>
  );
}

function changeText({ now, before, isComparable }: Changed, isShare: boolean): string {
  if (now === null || before === null) return "nothing before";
  if (!isComparable) return "too few to compare";
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
