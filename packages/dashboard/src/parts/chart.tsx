import { useMantineColorScheme } from "@mantine/core";
import { type CSSProperties, useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { formatTime } from "../data/format.ts";
import "uplot/dist/uPlot.min.css";

export interface Series {
  readonly label: string;
  /** The name of a colour in tokens.css. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  /** Bars of one chart stand on each other; lines are drawn over them. */
  readonly kind: "bar" | "line" | "area";
  /** Bars with stripes: told from the others without colour. */
  readonly isStriped?: boolean;
}

interface ChartProps {
  readonly title: string;
  readonly at: readonly string[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** What is counted in whole numbers, or in milliseconds, has an axis of such steps. */
  readonly steps?: keyof typeof STEPS;
}

const HEIGHT = 168;
/** Charts with this key share their cursor and their zoom. */
const SYNC = "bellhop";

/** One chart over time. Drag to zoom, double click to see all again. */
export function Chart({ title, at, series, format, steps }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const isZoomed = useRef(false);
  const [index, setIndex] = useState<number | null>(null);
  const { colorScheme } = useMantineColorScheme();
  const latest = useRef({ at, series, format, steps });
  latest.current = { at, series, format, steps };
  const shape = series.map(({ label, kind, color }) => `${label} ${kind} ${color}`).join();

  // Redrawn when its lines or colours change; data follow below.
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const made = new uPlot(
      optionsOf(element, latest.current, {
        onCursor: setIndex,
        onZoom: (zoomed) => {
          isZoomed.current = zoomed;
        },
      }),
      dataOf(latest.current.at, latest.current.series),
      element,
    );
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape, colorScheme]);

  useEffect(() => plot.current?.setData(dataOf(at, series), !isZoomed.current), [at, series]);

  return (
    <figure className="chart" aria-label={title}>
      <figcaption>
        <h2>{title}</h2>
        <ul>
          {series.map(({ label, color, values, isStriped = false }) => (
            <li key={label}>
              <i data-striped={isStriped} style={{ "--swatch": `var(--${color})` } as CSSProperties} />
              {label} <span className="num">{shown(values, index, format)}</span>
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={frame} style={{ height: HEIGHT }} />
    </figure>
  );
}

/** The value under the cursor, or the last known one. */
function shown(values: Series["values"], index: number | null, format: (value: number) => string): string {
  const value = index === null ? values.findLast((known) => known !== null) : values[index];
  return value === null || value === undefined ? "–" : format(value);
}

/** Bars stand on those that come after them in the list: the whole is drawn first. */
function dataOf(at: readonly string[], series: readonly Series[]): uPlot.AlignedData {
  const bars = series.filter(({ kind }) => kind === "bar");
  const columns = series.map(({ kind, values }) => {
    if (kind !== "bar") return [...values];
    const below = bars.slice(bars.findIndex((bar) => bar.values === values));
    return at.map((_, step) => below.reduce((sum, bar) => sum + (bar.values[step] ?? 0), 0));
  });
  return [at.map((time) => new Date(time).getTime() / 1000), ...columns];
}

interface Events {
  readonly onCursor: (index: number | null) => void;
  readonly onZoom: (isZoomed: boolean) => void;
}

function optionsOf(
  element: HTMLElement,
  { series, format, steps }: Pick<ChartProps, "series" | "format"> & { readonly steps: ChartProps["steps"] },
  { onCursor, onZoom }: Events,
): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis: uPlot.Axis = {
    stroke: color("muted"),
    font: `11px ${style.getPropertyValue("--font")}`,
    grid: { stroke: color("line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { sync: { key: SYNC, setSeries: false }, points: { size: 6 }, drag: { x: true, y: false } },
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] } },
    axes: [
      { ...axis, grid: { show: false }, space: 64, size: 28, values: (_, ticks) => timesOf(ticks) },
      {
        ...axis,
        size: 60,
        space: 36,
        values: (_, ticks) => ticks.map(format),
        ...(steps === undefined ? {} : { incrs: [...STEPS[steps]] }),
      },
    ],
    series: [{}, ...series.map((line) => lineOf(line, color(line.color), color("surface")))],
    hooks: {
      setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)],
      setSelect: [(plot) => onZoom(plot.select.width > 0)],
      ready: [(plot) => plot.over.addEventListener("dblclick", () => onZoom(false))],
    },
  };
}

/** 1, 2, 5, 10 … a billion. */
const WHOLE_STEPS = Array.from(
  { length: 28 },
  (_, step) => ([1, 2, 5][step % 3] ?? 1) * 10 ** Math.floor(step / 3),
);

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const SIXTIETHS = [1, 2, 5, 10, 15, 30];

const STEPS = {
  whole: WHOLE_STEPS,
  /** Thousandths of a second, then as clocks divide time, then days. */
  time: [
    ...WHOLE_STEPS.filter((step) => step < SECOND),
    ...SIXTIETHS.map((step) => step * SECOND),
    ...SIXTIETHS.map((step) => step * MINUTE),
    ...[1, 2, 6, 12].map((step) => step * HOUR),
    ...WHOLE_STEPS.map((step) => step * 24 * HOUR),
  ],
} satisfies Record<string, readonly number[]>;

const DAY_SECONDS = 86_400;

/** Hours and minutes; days where the ticks are days apart. */
function timesOf(ticks: readonly number[]): string[] {
  const step = (ticks[1] ?? 0) - (ticks[0] ?? 0);
  return ticks.map((tick) => {
    const text = formatTime(new Date(tick * 1000));
    return step >= DAY_SECONDS ? text.slice(5, 10) : text.slice(11, 16);
  });
}

/** Where a value has no neighbour: no line leads to it. */
function alone(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (at: number) => (values[at] ?? null) !== null;
  return Array.from(values, (_, at) => at).filter(
    (at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1),
  );
}

/** Bars overlap: the gaps between the stripes show the background, not the bar behind. */
function stripes(color: string, ground: string): CanvasPattern | string {
  const tile = document.createElement("canvas");
  const size = 6 * Math.max(1, Math.round(window.devicePixelRatio));
  tile.width = size;
  tile.height = size;
  const pen = tile.getContext("2d");
  if (pen === null) return color;
  pen.fillStyle = ground;
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = color;
  pen.lineWidth = size / 2.5;
  for (const start of [-size, 0, size]) {
    pen.moveTo(start - 1, size + 1);
    pen.lineTo(start + size + 1, -1);
  }
  pen.stroke();
  return pen.createPattern(tile, "repeat") ?? color;
}

function lineOf({ label, kind, isStriped = false }: Series, color: string, ground: string): uPlot.Series {
  if (kind === "bar") {
    const paths = uPlot.paths.bars?.({ size: [0.8, 24], gap: 1 });
    return {
      label,
      fill: isStriped ? () => stripes(color, ground) : color,
      stroke: color,
      width: 0,
      points: { show: false },
      ...(paths ? { paths } : {}),
    };
  }
  return {
    label,
    stroke: color,
    width: 1.5,
    points: { show: true, size: 4, fill: color, filter: (plot, place) => alone(plot.data[place] ?? []) },
    spanGaps: false,
    ...(kind === "area" ? { fill: `${color}22` } : {}),
  };
}
