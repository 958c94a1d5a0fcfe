/** Numbers and times as people read them: rounded to what matters, with their unit. The exact value goes into a title. */

const COUNT_UNITS = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** `812`, `1.2 k`, `34 M`. */
export function formatCount(count: number): string {
  for (const [size, unit] of COUNT_UNITS) {
    // 999,950 would be rounded to "1000 k".
    if (count >= size * 0.99995) return `${shorten(count / size)} ${unit}`;
  }
  return Number.isInteger(count) ? String(count) : shorten(count);
}

export function formatRate(perMinute: number): string {
  return `${formatCount(perMinute < 10 ? Math.round(perMinute * 10) / 10 : Math.round(perMinute))}/min`;
}

/** `812 ms`, `3.4 s`, `42 s`, `3 m 12 s`, `2 h 5 m`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 0) return "0 ms";
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${shorten(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return two(minutes, "m", seconds % 60, "s");
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return two(hours, "h", minutes % 60, "m");
  return two(Math.floor(hours / 24), "d", hours % 24, "h");
}

/** As `formatDuration`, without the second unit and without milliseconds: for ages that tick. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** `0 %`, `<0.1 %`, `3.4 %`, `34 %`. */
export function formatPercent(share: number): string {
  const percent = share * 100;
  if (percent === 0) return "0 %";
  if (percent < 0.1) return "<0.1 %";
  return `${percent < 9.95 ? percent.toFixed(1).replace(/\.0$/, "") : Math.round(percent)} %`;
}

const BYTE_UNITS = ["KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), BYTE_UNITS.length);
  return `${shorten(bytes / 1024 ** power)} ${BYTE_UNITS[power - 1]}`;
}

/** Local, to the second: `2026-11-16 02:58:17`. */
export function formatTime(at: Date): string {
  const pad = (part: number) => String(part).padStart(2, "0");
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

/** `2026-11-16 01:58:17 UTC`. */
export function formatUtc(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** The zone that `formatTime` writes in: `Europe/Berlin`, `UTC+1`. */
export function zoneOf(at: Date): { readonly name: string; readonly offset: string } {
  const format = new Intl.DateTimeFormat("en-US", { timeZoneName: "shortOffset" });
  const offset = format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "UTC";
  return {
    name: format.resolvedOptions().timeZone,
    offset: offset.replace("GMT", "UTC").replace(/\+0$/, ""),
  };
}

/** `1,234 tasks`, `1 task`. */
export function plural(count: number, word: string): string {
  return `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;
}

/** How many tasks a search found. Capped: there may be more, they were not counted. */
export interface Total {
  readonly count: number;
  readonly isCapped: boolean;
}

/** `1,234`, or `1,234+` where there may be more. */
export function formatTotal({ count, isCapped }: Total): string {
  return `${count.toLocaleString("en-US")}${isCapped ? "+" : ""}`;
}

function shorten(value: number): string {
  return value < 9.95 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}

function two(first: number, firstUnit: string, second: number, secondUnit: string): string {
  return second === 0 ? `${first} ${firstUnit}` : `${first} ${firstUnit} ${second} ${secondUnit}`;
}
