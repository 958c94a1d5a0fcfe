import { lazy, memo, Suspense } from "react";
import { formatCount, formatDuration } from "../data/format.ts";
import { perMinute, type QueueSeries, type Stats } from "../data/stats.ts";

/** Fetched while the numbers are: both are needed, and neither needs the other. */
const fetched = import("./chart.tsx");
const Chart = lazy(async () => ({ default: (await fetched).Chart }));

const PLACES = ["throughput", "depth", "wait", "duration"];

/** Throughput, depth, wait and duration, under one cursor. Redrawn when the numbers change, not with every clock tick. */
export const Charts = memo(function Charts({
  stats,
  series,
}: {
  readonly stats: Stats;
  readonly series: QueueSeries;
}) {
  const rates = (counts: readonly number[]) => perMinute(stats, series, counts);
  const rate = (value: number) => formatCount(value < 10 ? Math.round(value * 10) / 10 : Math.round(value));
  const quantiles = ({ p50, p95 }: QueueSeries["waitMs"]) =>
    [
      { label: "p95", color: "accent", values: p95, kind: "line" },
      { label: "p50", color: "muted", values: p50, kind: "line" },
    ] as const;
  return (
    <div className="charts panel">
      <Suspense fallback={PLACES.map((place) => <figure key={place} className="chart" />)}>
        <Chart
          title="Ended per minute"
          at={stats.at}
          format={rate}
          series={[
            { label: "cancelled", color: "cancelled", values: rates(series.cancelled), kind: "bar" },
            { label: "failed", color: "failed", values: rates(series.failed), kind: "bar", isStriped: true },
            { label: "completed", color: "completed", values: rates(series.completed), kind: "bar" },
            { label: "created", color: "text", values: rates(series.created), kind: "line" },
          ]}
        />
        <Chart
          title="Pending"
          steps="whole"
          at={stats.at}
          format={rate}
          series={[{ label: "pending", color: "pending", values: series.pending, kind: "area" }]}
        />
        <Chart
          title="Wait before a call"
          steps="time"
          at={stats.at}
          format={formatDuration}
          series={quantiles(series.waitMs)}
        />
        <Chart
          title="Duration of a call"
          steps="time"
          at={stats.at}
          format={formatDuration}
          series={quantiles(series.durationMs)}
        />
      </Suspense>
    </div>
  );
});
