import { Cron } from "croner";
import { echo } from "../../domain/complaint.ts";

/**
 * The firing times of a cron expression. The library walks the calendar without a time zone; this module maps
 * wall-clock times to instants: a time that a clock change skips is the first instant after the gap, a time that occurs
 * twice is the first of the two. The library overflows its stack for an expression that matches no day of any month, so
 * those are refused before.
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
  /** Names of the numbers; the first is `least`. */
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

/** Why this is not a cron expression that ever fires; null if it is one. */
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

/** The numbers of a field; null if it is invalid. */
function valuesOf(field: string, rule: FieldRule): number[] | null {
  const values: number[] = [];
  for (const part of field.toLowerCase().split(",")) {
    const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d{1,4}))?$/.exec(part);
    if (match === null) return null;
    const [, star, first, last, step] = match;
    // A step needs a range.
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

/** One formatter per used zone: there are a few hundred, and creating one is slow. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** Null for an invalid time zone. An offset is not a zone: it has no clock changes. */
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

/** For a valid expression in a valid zone. */
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
      // The clocks were set back between the two, and every time up to the end of the repeated hour has fired.
      const changeMs = changeBetween(atMs, afterMs, offsetMs);
      return new Date(instantOf(nextWall(changeMs - 1000 + offsetMs(atMs)), offsetMs));
    },
  };
}

/**
 * The same for many schedules at once, most of them alike: each expression is parsed once, and repeated times are
 * cached.
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

/** The offset of a zone from UTC at an instant. */
function offsetsOf(zone: string): (instantMs: number) => number {
  const formatter = formatterOf(zone);
  if (formatter === null) throw new Error(`No time zone: ${zone}`);
  // Most schedules are in UTC, and formatting is most of the work.
  if (formatter.resolvedOptions().timeZone === "UTC") return () => 0;
  return (instantMs) => wallMs(formatter, instantMs) - Math.floor(instantMs / 1000) * 1000;
}

/** The next times after an instant. */
export function nextTimes(cron: string, zone: string, after: Date, count: number): Date[] {
  const times = cronTimes(cron, zone);
  const found: Date[] = [];
  while (found.length < count) found.push(times.next(found.at(-1) ?? after));
  return found;
}

/** The wall-clock time at an instant, to the second, as if it were UTC. */
function wallMs(formatter: Intl.DateTimeFormat, instantMs: number): number {
  const parts = formatter.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = Object.fromEntries(parts);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The first instant with this wall-clock time; if there is none, the first after the gap. */
function instantOf(wall: number, offsetMs: (instantMs: number) => number): number {
  const before = offsetMs(wall - DAY_MS);
  const later = offsetMs(wall + DAY_MS);
  for (const offset of [before, later]) {
    if (offsetMs(wall - offset) === offset) return wall - offset;
  }
  return changeBetween(wall - later, wall - before, offsetMs);
}

/** The second of the clock change between two instants with different offsets. */
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
