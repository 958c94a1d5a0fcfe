import { Cron } from "croner";
import { echo } from "./complaint.ts";

/**
 * When a cron expression fires. The library walks the calendar on a clock without a time zone; which instant a wall-clock
 * time is, is decided here: one that a change of the clocks skips is the first instant after the gap, one that comes
 * twice is the first of the two. The library overflows its stack at an
 * expression that names no day of any month, so such a one is told beforehand.
 */
export interface CronTimes {
  /** The first time after this instant. */
  next(after: Date): Date;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

interface FieldRule {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** What a number may be called: the first is `least`. */
  readonly words?: readonly string[];
}

const FIELDS: readonly FieldRule[] = [
  { name: "second", least: 0, most: 59 },
  { name: "minute", least: 0, most: 59 },
  { name: "hour", least: 0, most: 23 },
  { name: "day of month", least: 1, most: 31 },
  { name: "month", least: 1, most: 12, words: MONTHS },
  { name: "day of week", least: 0, most: 7, words: WEEKDAYS },
];

const LONGEST_CRON = 256;
const DAYS_OF_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAY_MS = 86_400_000;

/** Why this is no cron expression that ever fires; null if it is one. */
export function cronComplaint(text: string): string | null {
  const fields = text.trim().split(/\s+/);
  if (text.length > LONGEST_CRON || (fields.length !== 5 && fields.length !== 6))
    return "cron must have five fields, or six with seconds first";
  const rules = FIELDS.slice(-fields.length);
  for (const [index, rule] of rules.entries()) {
    const field = fields[index] ?? "";
    if (valuesOf(field, rule) === null) {
      const { name, least, most, words } = rule;
      const range = `${least}-${most}${words === undefined ? "" : ` or ${words[0]}-${words.at(-1)}`}`;
      return `cron has an invalid ${name} "${echo(field)}": use *, ${range}, lists (1,2), ranges (1-5) and steps (*/2, 1-9/2)`;
    }
  }
  return firesEver(fields.slice(-3)) ? null : "cron never fires: no such day is in any of its months";
}

function firesEver([days = "*", months = "*", weekdays = "*"]: readonly string[]): boolean {
  if (weekdays !== "*") return true;
  const [, , , dayRule, monthRule] = FIELDS;
  if (dayRule === undefined || monthRule === undefined) return true;
  const firstDay = Math.min(...(valuesOf(days, dayRule) ?? []));
  return (valuesOf(months, monthRule) ?? []).some((month) => firstDay <= (DAYS_OF_MONTHS[month - 1] ?? 0));
}

/** The numbers that a field names; null if it breaks a rule. */
function valuesOf(field: string, rule: FieldRule): number[] | null {
  const values: number[] = [];
  for (const part of field.toLowerCase().split(",")) {
    const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d{1,4}))?$/.exec(part);
    if (match === null) return null;
    const [, star, first, last, step] = match;
    // A step needs something to go through.
    if (step !== undefined && (Number(step) < 1 || (star === undefined && last === undefined))) return null;
    const from = star === undefined ? numberOf(first ?? "", rule, false) : rule.least;
    const to = star === undefined ? numberOf(last ?? first ?? "", rule, last !== undefined) : rule.most;
    if (from === null || to === null || from > to) return null;
    if (step !== undefined && Number(step) > rule.most) return null;
    for (let value = from; value <= to; value += Number(step ?? 1)) values.push(value);
  }
  return values;
}

function numberOf(text: string, { least, most, words = [] }: FieldRule, isEnd: boolean): number | null {
  const word = words.indexOf(text);
  // A week may end with Sunday.
  if (word >= 0) return isEnd && word === 0 && least === 0 ? 7 : word + least;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : -1;
  return value >= least && value <= most ? value : null;
}

/** One formatter for each zone that was ever asked for: there are a few hundred, and making one is slow. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Null for what is no time zone. An offset is none: it knows nothing of a change of the clocks. */
function formatterOf(zone: string): Intl.DateTimeFormat | null {
  const known = formatters.get(zone.toLowerCase());
  if (known !== undefined) return known;
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(zone)) return null;
  try {
    const made = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formatters.set(zone.toLowerCase(), made);
    return made;
  } catch {
    return null;
  }
}

export function isTimeZone(zone: string): boolean {
  return formatterOf(zone) !== null;
}

/** Of an expression without complaint, in a zone that there is. */
export function cronTimes(cron: string, zone: string): CronTimes {
  const offsetMs = offsetsOf(zone);
  const calendar = new Cron(cron.trim(), { utcOffset: 0, paused: true });
  const nextWall = (wall: number): number => {
    const next = calendar.nextRun(new Date(wall));
    if (next === null) throw new Error(`Never fires: ${cron}`);
    return next.getTime();
  };
  return {
    next(after) {
      const afterMs = after.getTime();
      const wall = Math.floor(afterMs / 1000) * 1000 + offsetMs(afterMs);
      const atMs = instantOf(nextWall(wall), offsetMs);
      if (atMs > afterMs) return new Date(atMs);
      // The clocks were set back between the two, and every time up to the end of the repeated stretch has had its firing.
      const changeMs = changeBetween(atMs, afterMs, offsetMs);
      return new Date(instantOf(nextWall(changeMs - 1000 + offsetMs(atMs)), offsetMs));
    },
  };
}

/**
 * The same for many schedules at once, of which most are alike: each expression is read once, and from one time to the next there is
 * nothing to compute.
 */
export function rememberCronTimes(): typeof cronTimes {
  const known = new Map<string, CronTimes>();
  return (cron, zone) => {
    const key = `${zone} ${cron}`;
    const times = known.get(key) ?? rememberNext(cronTimes(cron, zone));
    known.set(key, times);
    return times;
  };
}

function rememberNext(times: CronTimes): CronTimes {
  let from = new Date(Number.NaN);
  let until = from;
  return {
    next(after) {
      if (from <= after && after < until) return until;
      until = times.next(after);
      from = after;
      return until;
    },
  };
}

/** By how much the clocks of a zone are ahead of UTC at an instant. */
function offsetsOf(zone: string): (instantMs: number) => number {
  const formatter = formatterOf(zone);
  if (formatter === null) throw new Error(`No time zone: ${zone}`);
  // Most schedules are in UTC, and formatting is most of the work.
  if (formatter.resolvedOptions().timeZone === "UTC") return () => 0;
  return (instantMs) => wallMs(formatter, instantMs) - Math.floor(instantMs / 1000) * 1000;
}

/** So many times after an instant. */
export function nextTimes(cron: string, zone: string, after: Date, count: number): Date[] {
  const times = cronTimes(cron, zone);
  const found: Date[] = [];
  while (found.length < count) found.push(times.next(found.at(-1) ?? after));
  return found;
}

/** What a clock on the wall shows at an instant, to the second, as if it stood in UTC. */
function wallMs(formatter: Intl.DateTimeFormat, instantMs: number): number {
  const shown: Record<string, number> = {};
  for (const { type, value } of formatter.formatToParts(instantMs)) shown[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The first instant at which the wall shows this; if it never does, the first after the gap. */
function instantOf(wall: number, offsetMs: (instantMs: number) => number): number {
  const before = offsetMs(wall - DAY_MS);
  const later = offsetMs(wall + DAY_MS);
  for (const offset of [before, later]) {
    if (offsetMs(wall - offset) === offset) return wall - offset;
  }
  return changeBetween(wall - later, wall - before, offsetMs);
}

/** The whole second at which the clocks change, of two instants with different offsets. */
function changeBetween(earlyMs: number, lateMs: number, offsetMs: (instantMs: number) => number): number {
  const later = offsetMs(lateMs);
  let early = Math.floor(earlyMs / 1000) * 1000;
  let late = Math.floor(lateMs / 1000) * 1000;
  while (late - early > 1000) {
    const middle = Math.floor((early + late) / 2000) * 1000;
    if (offsetMs(middle) === later) late = middle;
    else early = middle;
  }
  return late;
}
