const WIDTH = 120;
const HEIGHT = 24;

/** Completed and failed of each step, as small bars: above and below one line, so that colour is not all that tells them apart. */
export function Sparkline({
  completed = [],
  failed,
  label,
}: {
  /** Left out: all bars are failures, and start at the bottom edge. */
  readonly completed?: readonly number[];
  readonly failed: readonly number[];
  readonly label: string;
}) {
  const isSplit = completed.length > 0;
  const step = WIDTH / Math.max(completed.length, failed.length, 1);
  const unit = HEIGHT / Math.max(1, Math.max(0, ...completed) + Math.max(0, ...failed));
  const most = Math.max(0, ...completed) * unit;
  const ground = isSplit && failed.some((count) => count > 0) ? Math.max(most, 1) : HEIGHT;
  const bars = (values: readonly number[], direction: 1 | -1) =>
    values
      .map((value, at) => {
        if (value === 0) return "";
        const height = direction * Math.max(value * unit, 1);
        return `M${(at * step).toFixed(1)} ${ground.toFixed(1)}v${height.toFixed(1)}h${Math.max(step - 0.6, 0.6).toFixed(1)}v${(-height).toFixed(1)}z`;
      })
      .join("");
  return (
    <svg className="spark" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      {isSplit ? (
        <path d={`M0 ${Math.min(ground, HEIGHT - 0.5).toFixed(1)}h${WIDTH}`} stroke="var(--line-strong)" />
      ) : null}
      <path d={bars(completed, -1)} fill="var(--completed)" />
      <path d={bars(failed, isSplit ? 1 : -1)} fill="var(--failed)" />
    </svg>
  );
}
