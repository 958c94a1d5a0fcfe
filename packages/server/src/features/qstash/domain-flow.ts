import type { MessageFlow } from "../../domain/message.ts";
import { parseDuration } from "./domain-duration.ts";

const KEY = /^[A-Za-z0-9._:@-]{1,128}$/;
const MOST_PARALLEL = 1000;
const MOST_RATE = 100_000;
const LONGEST_PERIOD_SECONDS = 604_800;

/** `parallelism=5, rate=10, period=1m`: any order and spaces, one of the first two at least. */
export function parseFlow(
  key: string | undefined,
  value: string | undefined,
  complain: (field: string, rule: string) => null,
): MessageFlow | null {
  if (key === undefined || key === "") {
    if (value === undefined || value === "") return null;
    return complain("Upstash-Flow-Control-Key", "given beside Upstash-Flow-Control-Value");
  }
  if (!KEY.test(key))
    return complain(
      "Upstash-Flow-Control-Key",
      "1 to 128 letters, digits, dots, underscores, hyphens, colons or @",
    );
  const figures = new Map<string, string>();
  for (const part of (value ?? "").split(",")) {
    const [, name = "", figure = ""] = /^\s*(parallelism|rate|period)\s*=\s*(\w+)\s*$/.exec(part) ?? [];
    if (name === "" || figures.has(name)) return complain(VALUE, RULE);
    figures.set(name, figure);
  }
  const parallelism = wholeUpTo(figures.get("parallelism"), MOST_PARALLEL);
  const rate = wholeUpTo(figures.get("rate"), MOST_RATE);
  const periodSeconds = periodOf(figures.get("period"));
  if (Number.isNaN(parallelism) || Number.isNaN(rate) || Number.isNaN(periodSeconds))
    return complain(VALUE, RULE);
  if (parallelism === undefined && rate === undefined) return complain(VALUE, RULE);
  return {
    key,
    ...(parallelism !== undefined && { parallelism }),
    ...(rate !== undefined && { rate, periodSeconds: periodSeconds ?? 1 }),
  };
}

const VALUE = "Upstash-Flow-Control-Value";
const RULE =
  `parallelism=N (1–${MOST_PARALLEL}), rate=N (1–${MOST_RATE}) or both, and optionally period=1m ` +
  `(1–${LONGEST_PERIOD_SECONDS} s), separated by commas`;

function wholeUpTo(text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const figure = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return figure >= 1 && figure <= most ? figure : Number.NaN;
}

function periodOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : parseDuration(text);
  return seconds !== null && seconds >= 1 && seconds <= LONGEST_PERIOD_SECONDS ? seconds : Number.NaN;
}
