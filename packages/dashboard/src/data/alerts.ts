import type { AnswerOf } from "@bellhop/sdk";
import { bellhop } from "./client.ts";
import { completeList } from "./complete-list.ts";
import { useList } from "./live.ts";

export type Alert = AnswerOf<"listAlerts">["alerts"][number];
export type AlertKind = Alert["when"]["kind"];
export type Channel = Alert["notify"][number];

export const ALERT_KINDS = completeList<AlertKind>({
  failure_rate: true,
  oldest_pending: true,
  depth: true,
  breaker_open: true,
  schedule_failing: true,
  webhook_disabled: true,
  storage: true,
});

interface KindText {
  readonly title: string;
  /** Of the threshold; null: the kind has none. */
  readonly threshold: string | null;
  readonly unit: string;
  readonly hasQueue: boolean;
}

export const KIND_TEXTS: Readonly<Record<AlertKind, KindText>> = {
  failure_rate: { title: "Failure rate", threshold: "Percent failed", unit: " %", hasQueue: true },
  oldest_pending: { title: "Oldest pending task", threshold: "Seconds", unit: " s", hasQueue: true },
  depth: { title: "Queue depth", threshold: "Due and pending tasks", unit: "", hasQueue: true },
  breaker_open: { title: "Circuit breaker open", threshold: null, unit: "", hasQueue: true },
  schedule_failing: { title: "Schedule fails", threshold: "Firings in a row", unit: "", hasQueue: false },
  webhook_disabled: { title: "Webhook disabled", threshold: null, unit: "", hasQueue: false },
  storage: { title: "Storage", threshold: "Percent used", unit: " %", hasQueue: false },
};

export function useAlerts() {
  return useList("alerts", bellhop.alerts.list, 5_000);
}

/** `Failure rate ≥ 10 % within 300 s`. */
export function conditionText({ kind, threshold, within, for: held }: Alert["when"]): string {
  const { title, unit } = KIND_TEXTS[kind];
  return [
    title,
    threshold === null ? "" : `≥ ${threshold}${unit}`,
    within === null ? "" : `within ${within} s`,
    held === 0 ? "" : `for ${held} s`,
  ]
    .filter((part) => part !== "")
    .join(" ");
}

export function valueText({ value, when }: Pick<Alert, "value" | "when">): string {
  return value === null ? "–" : `${Number(value.toFixed(1))}${KIND_TEXTS[when.kind].unit}`;
}

export function targetOf({ email, url, slackUrl }: Channel): string {
  return email ?? url ?? slackUrl ?? "";
}
