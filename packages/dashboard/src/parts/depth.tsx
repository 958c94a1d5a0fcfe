import { OPEN_STATUSES } from "../data/status.ts";

type Counts = Readonly<Record<(typeof OPEN_STATUSES)[number], number>>;

/** How many tasks are in each state that is not an end, to the scale of the deepest queue. */
export function Depth({ counts, max }: { readonly counts: Counts; readonly max: number }) {
  const text = OPEN_STATUSES.map((status) => `${counts[status]} ${status}`).join(", ");
  return (
    <span className="depth" title={text} role="img" aria-label={text}>
      {OPEN_STATUSES.map((status) =>
        counts[status] === 0 ? null : (
          <i
            key={status}
            style={{ width: `${(counts[status] / Math.max(max, 1)) * 100}%`, background: `var(--${status})` }}
          />
        ),
      )}
    </span>
  );
}
