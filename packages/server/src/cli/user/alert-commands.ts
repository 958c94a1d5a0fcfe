import { type Command, InvalidArgumentError, Option } from "commander";
import type { Bellhop } from "../sdk.ts";
import type { Column } from "../table.ts";
import { collect, readInteger } from "./option-values.ts";
import { given, type ServerOptions, serverCommand, show, showRows, timeOf, type User } from "./user.ts";

type Alert = Awaited<ReturnType<Bellhop["alerts"]["list"]>>[number];

const KINDS = [
  "failure_rate",
  "oldest_pending",
  "depth",
  "breaker_open",
  "webhook_disabled",
  "schedule_failing",
  "storage",
] as const satisfies readonly Alert["when"]["kind"][];

interface CreateOptions extends ServerOptions {
  readonly kind: Alert["when"]["kind"];
  readonly queue?: string;
  readonly threshold?: number;
  readonly within?: number;
  readonly for?: number;
  readonly email?: readonly string[];
  readonly url?: readonly string[];
  readonly slackUrl?: readonly string[];
}

export function addAlertCommands(program: Command, user: User): void {
  const alerts = program.command("alerts").description("conditions that notify people when they hold");

  serverCommand(alerts, "list", "list alerts with their state").action(async (options: ServerOptions) => {
    const found = await (await user.client(options)).alerts.list();
    showRows(user, options, found, { columns: COLUMNS, none: "No alerts" });
  });

  serverCommand(alerts, "create", "create an alert; prints its id")
    .argument("<name>", "named in every message")
    .addOption(new Option("--kind <kind>", "what is watched").choices(KINDS).makeOptionMandatory())
    .option("--queue <name>", "only this queue; otherwise all queues of the team")
    .option("--threshold <figure>", "fires at this figure or above", readFigure)
    .option("--within <seconds>", "for failure_rate: the tasks that ended within this time", readInteger)
    .option("--for <seconds>", "fires when the condition has held for this long", readInteger)
    .option("--email <address>", "notify a member of the team; may be given several times", collect)
    .option("--url <url>", "notify a URL by a signed request; may be given several times", collect)
    .option("--slack-url <url>", "notify a Slack-compatible URL; may be given several times", collect)
    .action(async (name: string, options: CreateOptions) => {
      const { kind, queue, threshold, within, email = [], url = [], slackUrl = [] } = options;
      const when = { kind, ...given({ queue, threshold, within, for: options.for }) };
      const notify = [
        ...email.map((address) => ({ email: address })),
        ...url.map((target) => ({ url: target })),
        ...slackUrl.map((target) => ({ slackUrl: target })),
      ];
      const made = await (await user.client(options)).alerts.create({ name, when, notify });
      show(user, options, made, ({ id }) => `${id}\n`);
    });

  serverCommand(alerts, "test", "send a test message to every channel of an alert")
    .argument("<id>")
    .action(async (id: string, options: ServerOptions) => {
      const tested = await (await user.client(options)).alerts.test(id);
      show(user, options, tested, ({ notify }) => `Sent to ${notify.length} channels\n`);
    });

  for (const [command, enabled, done] of [
    ["enable", true, "enabled"],
    ["disable", false, "disabled: it is not evaluated"],
  ] as const)
    serverCommand(alerts, command, `${command} an alert`)
      .argument("<id>")
      .action(async (id: string, options: ServerOptions) => {
        const changed = await (await user.client(options)).alerts.update(id, { enabled });
        show(user, options, changed, ({ name }) => `${name} is ${done}\n`);
      });

  serverCommand(alerts, "delete", "delete an alert")
    .argument("<id>")
    .action(async (id: string, options: ServerOptions) => {
      show(user, options, await (await user.client(options)).alerts.delete(id), () => `Deleted ${id}\n`);
    });
}

function readFigure(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError("It must be a number.");
  return Number(text);
}

const COLUMNS: readonly Column<Alert>[] = [
  { title: "NAME", of: ({ name }) => name },
  { title: "WHEN", of: ({ when }) => [when.kind, when.threshold, when.queue].filter(Boolean).join(" ") },
  { title: "STATE", of: ({ state, enabled }) => (enabled ? state : "disabled") },
  { title: "VALUE", of: ({ value }) => (value === null ? "" : String(Number(value.toFixed(1)))) },
  { title: "LAST FIRED", of: ({ lastFiredAt }) => timeOf(lastFiredAt) },
  { title: "ID", of: ({ id }) => id },
];
