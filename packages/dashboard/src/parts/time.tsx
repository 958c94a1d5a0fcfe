import { formatAge, formatDuration, formatTime, formatUtc } from "../data/format.ts";
import { useNow } from "../data/now.ts";

/** How long ago, or in how long; the exact time on hover. */
export function Ago({
  at,
  bare = false,
}: {
  readonly at: string | null | undefined;
  readonly bare?: boolean;
}) {
  const now = useNow();
  if (!at) return <span className="muted">–</span>;
  const date = new Date(at);
  const age = now - date.getTime();
  return (
    <time dateTime={at} title={`${formatTime(date)} · ${formatUtc(date)}`}>
      {ageText(age, bare)}
    </time>
  );
}

function ageText(age: number, bare: boolean): string {
  // A server's clock may be a little ahead of the browser's.
  if (age > -1500 && age < 1000) return bare ? "0 s" : "now";
  const text = formatAge(Math.abs(age));
  if (bare) return text;
  return age < 0 ? `in ${text}` : `${text} ago`;
}

/** The time itself. */
export function Moment({ at }: { readonly at: string | null | undefined }) {
  if (!at) return <span className="muted">–</span>;
  return (
    <time dateTime={at} title={formatUtc(new Date(at))} className="num">
      {formatTime(new Date(at))}
    </time>
  );
}

export function Duration({ ms }: { readonly ms: number | null | undefined }) {
  if (ms === null || ms === undefined) return <span className="muted">–</span>;
  return <span title={`${ms.toLocaleString("en-US")} ms`}>{formatDuration(ms)}</span>;
}
