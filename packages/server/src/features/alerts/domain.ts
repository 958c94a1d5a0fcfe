/** What an alert can watch. */
export const ALERT_KINDS = [
  "failure_rate",
  "oldest_pending",
  "depth",
  "breaker_open",
  "webhook_disabled",
  "schedule_failing",
  "storage",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** The condition of an alert. A field that the kind does not have is null. */
export interface AlertCondition {
  readonly kind: AlertKind;
  /** Null: all queues of the team. */
  readonly queue: string | null;
  readonly threshold: number | null;
  /** Seconds. */
  readonly within: number | null;
  /** Seconds for which the condition must hold before the alert fires. */
  readonly for: number;
}

interface KindRules {
  /** Null: the kind has no threshold. */
  readonly threshold: {
    readonly least: number;
    readonly most: number;
    readonly isWhole: boolean;
    /** Used if none is given; null: one must be given. */
    readonly default: number | null;
  } | null;
  readonly hasQueue: boolean;
  readonly hasWithin: boolean;
}

const PERCENT = { least: 0.01, most: 100, isWhole: false, default: null };

export const KIND_RULES: Readonly<Record<AlertKind, KindRules>> = {
  failure_rate: { threshold: PERCENT, hasQueue: true, hasWithin: true },
  oldest_pending: {
    threshold: { least: 1, most: 31_536_000, isWhole: true, default: null },
    hasQueue: true,
    hasWithin: false,
  },
  depth: {
    threshold: { least: 1, most: 1_000_000, isWhole: true, default: null },
    hasQueue: true,
    hasWithin: false,
  },
  breaker_open: { threshold: null, hasQueue: true, hasWithin: false },
  webhook_disabled: { threshold: null, hasQueue: false, hasWithin: false },
  schedule_failing: {
    threshold: { least: 1, most: 100, isWhole: true, default: 3 },
    hasQueue: false,
    hasWithin: false,
  },
  storage: { threshold: PERCENT, hasQueue: false, hasWithin: false },
};

export const WITHIN = { least: 60, most: 3_600, default: 300 } as const;
export const FOR = { most: 86_400, default: 0 } as const;
/** A rate of fewer ended tasks says nothing. */
export const LEAST_ENDED = 20;

export const CHANNEL_KINDS = ["email", "url", "slack_url"] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

/** A recipient of an alert's messages, as given. */
export interface NewChannel {
  readonly kind: ChannelKind;
  /** The address or the URL; of a Slack URL either the whole, or the shown part of one that the alert has. */
  readonly target: string;
}

export interface AlertChannel extends NewChannel {
  readonly id: string;
  /** Why the last message was not delivered; null if it was. */
  readonly lastError: string | null;
  readonly lastSentAt: Date | null;
}

export interface AlertTerms {
  readonly name: string;
  readonly when: AlertCondition;
  readonly notify: readonly NewChannel[];
  readonly enabled: boolean;
}

export const ALERT_STATES = ["ok", "firing"] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** The result of the last evaluation. */
export interface AlertStanding {
  readonly state: AlertState;
  /** Null if there is no figure: nothing to measure, or too little. */
  readonly value: number | null;
  /** Since when the condition has held; null if it does not. */
  readonly heldSince: Date | null;
  readonly lastFiredAt: Date | null;
  /** When the last message about the current firing was created. */
  readonly toldAt: Date | null;
}

export interface Alert extends AlertStanding, Omit<AlertTerms, "notify"> {
  readonly teamId: number;
  readonly id: string;
  readonly notify: readonly AlertChannel[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The limits of a team. */
export const MOST_ALERTS = 50;
export const MOST_CHANNELS = 10;
export const LONGEST_NAME = 100;

export const REMIND_MS = 4 * 3_600_000;

export const MESSAGE_TYPES = ["alert.firing", "alert.reminder", "alert.resolved", "alert.test"] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

export interface Judgement extends AlertStanding {
  /** The message that this change sends; null if none. */
  readonly message: Exclude<MessageType, "alert.test"> | null;
  /** Since when the condition holds, or held until now. */
  readonly since: Date | null;
}

/** The figure at which the condition holds. */
export function limitOf({ threshold }: AlertCondition): number {
  return threshold ?? 1;
}

/**
 * One evaluation. The alert fires when the condition has held for its `for`, is repeated every four hours, and is
 * resolved by the first evaluation in which the condition does not hold.
 */
export function judge(
  alert: AlertStanding & { readonly when: AlertCondition },
  value: number | null,
  now: Date,
): Judgement {
  const { state, when, lastFiredAt, toldAt } = alert;
  if (value === null || value < limitOf(when)) {
    const message = state === "firing" ? "alert.resolved" : null;
    const since = message === null ? null : alert.heldSince;
    return { state: "ok", value, heldSince: null, lastFiredAt, toldAt: null, message, since };
  }
  const heldSince = alert.heldSince ?? now;
  const standing = { value, heldSince, since: heldSince };
  if (state === "firing") {
    const isDue = toldAt === null || now.getTime() - toldAt.getTime() >= REMIND_MS;
    const message = isDue ? "alert.reminder" : null;
    return { ...standing, state, lastFiredAt, toldAt: isDue ? now : toldAt, message };
  }
  if (now.getTime() - heldSince.getTime() < when.for * 1000)
    return { ...standing, state, lastFiredAt, toldAt: null, message: null };
  return { ...standing, state: "firing", lastFiredAt: now, toldAt: now, message: "alert.firing" };
}

export function isSameCondition(one: AlertCondition, other: AlertCondition): boolean {
  return (
    one.kind === other.kind &&
    one.queue === other.queue &&
    one.threshold === other.threshold &&
    one.within === other.within &&
    one.for === other.for
  );
}

/** Eight tries within four hours, when the next reminder is due: one at once, the others after these delays. */
export const MESSAGE_WAITS_MS = [5, 30, 120, 600, 1_800, 3_600, 7_200].map((seconds) => seconds * 1000);

/** Segments of a Slack URL's path that are shown: services such as Discord have a secret before the last one. */
const SHOWN_SEGMENTS = 2;

/** The URL without its end, which is the secret. */
export function showSlackUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  const segments = pathname.split("/").filter((segment) => segment !== "");
  const shown = segments.slice(0, Math.max(0, Math.min(SHOWN_SEGMENTS, segments.length - 1)));
  return `${[origin, ...shown].join("/")}/…`;
}
