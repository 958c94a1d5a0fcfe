import type { Comparison, StartResult } from "./comparison.ts";
import type { Quantiles } from "./load-job.ts";
import type { Machine } from "./machine.ts";
import type { Soak, SoakTenth } from "./soak.ts";
import { median } from "./statistics.ts";

function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const ms = (value: number) => value.toFixed(value < 10 ? 2 : 1);
const whole = (value: number) => value.toFixed(0);

export function formatMachine(machine: Machine): string {
  const { cores, cpu, arch, memoryGb, os, node, postgres, loadAverage } = machine;
  return `${cores} cores (${cpu}, ${arch}), ${memoryGb} GB, ${os}, Node ${node}, PostgreSQL ${postgres}, load before ${loadAverage.toFixed(2)}`;
}

export function formatStart({ subject, throughput, latency, usage }: StartResult): string {
  const { load, cpuMicrosPerTask: cpu } = throughput;
  return (
    `${subject}: ${whole(load.tasksPerSecond)} tasks/s (drain ${ms(load.drainMs)} ms), ` +
    `CPU µs/task subject ${whole(cpu.subject)} postgres ${whole(cpu.postgres)} load ${whole(cpu.load)} target ${whole(cpu.target)}, ` +
    `accept p99 ${ms(latency.load.acceptMs.p99)} ms, RSS ${whole(usage.rssMb)} MB` +
    (load.refused + load.repeated > 0 ? `, ${load.refused} refused, ${load.repeated} repeated` : "")
  );
}

type LatencyName = "acceptMs" | "acceptToCallMs" | "submitToCallMs";

export function formatComparison({ starts, latencyRate }: Comparison): string {
  const names = [...new Set(starts.map(({ subject }) => subject))];
  const of = (name: string) => starts.filter(({ subject }) => subject === name);
  const rates = (name: string) => of(name).map(({ throughput }) => throughput.load.tasksPerSecond);
  const latency = (name: string, what: LatencyName, q: keyof Quantiles) =>
    median(of(name).map((start) => start.latency.load[what][q]));
  const pair = (name: string, what: LatencyName) =>
    `${ms(latency(name, what, "p50"))} / ${ms(latency(name, what, "p99"))}`;
  const cpu = (name: string, who: "subject" | "postgres") =>
    whole(median(of(name).map(({ throughput }) => throughput.cpuMicrosPerTask[who])));

  const lines = [
    table([
      ["tasks/s", "median", "min", "max", "CPU µs/task", "postgres", "CPU s", "RSS MB", "peak RSS MB"],
      ...names.map((name) => [
        name,
        whole(median(rates(name))),
        whole(Math.min(...rates(name))),
        whole(Math.max(...rates(name))),
        cpu(name, "subject"),
        cpu(name, "postgres"),
        median(of(name).map(({ usage }) => usage.cpuSeconds)).toFixed(1),
        whole(median(of(name).map(({ usage }) => usage.rssMb))),
        whole(median(of(name).map(({ usage }) => usage.peakRssMb))),
      ]),
    ]),
    "",
    table([
      [`ms at ${latencyRate} tasks/s, p50 / p99`, "accept", "accept → called", "submit → called"],
      ...names.map((name) => [
        name,
        pair(name, "acceptMs"),
        pair(name, "acceptToCallMs"),
        pair(name, "submitToCallMs"),
      ]),
    ]),
  ];

  const [reference, ...others] = names;
  if (reference === undefined || others.length === 0) return lines.join("\n");
  lines.push(
    "",
    table([
      [
        `against ${reference}`,
        "tasks/s",
        "of pairs",
        "accept p99",
        "accept → called p50",
        "submit → called p50",
      ],
      ...others.map((name) => {
        const ratio = (what: LatencyName, q: keyof Quantiles) =>
          (latency(name, what, q) / latency(reference, what, q)).toFixed(2);
        const pairs = rates(name).map((rate, index) => rate / (rates(reference)[index] ?? Number.NaN));
        return [
          name,
          (median(rates(name)) / median(rates(reference))).toFixed(2),
          median(pairs).toFixed(2),
          ratio("acceptMs", "p99"),
          ratio("acceptToCallMs", "p50"),
          ratio("submitToCallMs", "p50"),
        ];
      }),
    ]),
  );
  return lines.join("\n");
}

export function formatTenth({ tenth, measurement, rssMb }: SoakTenth): string {
  const { tasksPerSecond, drainMs } = measurement.load;
  const { subject, postgres } = measurement.cpuMicrosPerTask;
  return `tenth ${tenth}: ${whole(tasksPerSecond)} tasks/s, drain ${ms(drainMs)} ms, CPU µs/task ${whole(subject)} + postgres ${whole(postgres)}, RSS ${whole(rssMb)} MB`;
}

export function formatSoak({ tenths }: Soak): string {
  // The first tenth is start-up: compiling, growing, filling caches.
  const second = tenths[1];
  const last = tenths.at(-1);
  if (second === undefined || last === undefined) return "";
  const rate = last.measurement.load.tasksPerSecond / second.measurement.load.tasksPerSecond;
  return `last tenth / second: rate ${rate.toFixed(2)}, RSS ${(last.rssMb / second.rssMb).toFixed(2)}`;
}
