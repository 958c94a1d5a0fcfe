import { type Command, Option } from "commander";
import type { Bellhop } from "../sdk.ts";
import type { Column } from "../table.ts";
import { readInteger } from "./option-values.ts";
import { type ServerOptions, serverCommand, show, showRows, timeOf, type User } from "./user.ts";

type Flow = Awaited<ReturnType<Bellhop["flows"]["list"]>>[number];

interface Limits {
  readonly concurrency?: number;
  readonly rate?: number;
  readonly period?: number;
  readonly ordered?: boolean;
  readonly onFailure?: "continue" | "block";
}

export function addFlowCommands(program: Command, user: User): void {
  const flows = program.command("flows").description("limits by key, over queues and nodes");

  serverCommand(flows, "list", "list flows with their limits, the busiest first").action(
    async (options: ServerOptions) => {
      const found = await (await user.client(options)).flows.list();
      showRows(user, options, found, { columns: COLUMNS, none: "No flows" });
    },
  );

  serverCommand(flows, "set", "store the limits of a key; replaces those that were stored")
    .argument("<key>")
    .option("--concurrency <calls>", "calls at once", readInteger)
    .option("--rate <calls>", "calls begun per period", readInteger)
    .option("--period <seconds>", "default: 1", readInteger)
    .option("--ordered", "start its tasks one at a time, in the order of creation")
    .option("--no-ordered", "start them by priority, whatever its tasks say")
    .addOption(
      new Option("--on-failure <what>", "of an ordered flow: go on after a failed task, or stop").choices([
        "continue",
        "block",
      ]),
    )
    .action(async (key: string, options: ServerOptions & Limits) => {
      const { concurrency, rate, period, ordered, onFailure } = options;
      const limits = {
        ...(concurrency !== undefined && { concurrency }),
        ...(rate !== undefined && { rate }),
        ...(period !== undefined && { period }),
        ...(ordered !== undefined && { ordered }),
        ...(onFailure !== undefined && { onFailure }),
      };
      const stored = await (await user.client(options)).flows.put(key, limits);
      show(user, options, stored, (flow) => `${flow.key}: ${limitsOf(flow)}\n`);
    });

  for (const [name, about, done] of [
    ["pause", "pause a flow: no call of it begins", "is paused"],
    ["resume", "resume a flow, also after a target asked to wait", "goes on"],
    ["reset", "restart the window of a flow's rate", "has a new window"],
  ] as const)
    serverCommand(flows, name, about)
      .argument("<key>")
      .action(async (key: string, options: ServerOptions) => {
        const flow = await (await user.client(options)).flows[name](key);
        show(user, options, flow, () => `${key} ${done}\n`);
      });

  serverCommand(flows, "delete", "remove the stored limits of a key")
    .argument("<key>")
    .action(async (key: string, options: ServerOptions) => {
      const removed = await (await user.client(options)).flows.delete(key);
      show(user, options, removed, () => `The stored limits of ${key} are removed\n`);
    });
}

function limitsOf({ concurrency, rate, period, ordered }: Flow): string {
  const parts = [
    ...(ordered ? ["ordered"] : concurrency === null ? [] : [`${concurrency} at once`]),
    ...(rate === null ? [] : [`${rate} in ${period ?? 1} s`]),
  ];
  return parts.length === 0 ? "no limit" : parts.join(", ");
}

const COLUMNS: readonly Column<Flow>[] = [
  { title: "KEY", of: ({ key }) => key },
  { title: "LIMITS", of: limitsOf },
  { title: "ACTIVE", of: ({ active }) => String(active) },
  { title: "WAITING", of: ({ waiting }) => String(waiting) },
  { title: "BEGUN", of: ({ begunInPeriod }) => String(begunInPeriod) },
  {
    title: "PAUSED",
    of: ({ paused, pausedUntil }) =>
      paused ? (pausedUntil === null ? "yes" : `until ${timeOf(pausedUntil)}`) : "no",
  },
];
