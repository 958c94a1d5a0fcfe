const WIDTH = 120;
const HEIGHT = 24;

/** Completed and failed of each step, as small bars. */
export function Sparkline({
  completed,
  failed,
  label,
}: {
  readonly completed: readonly number[];
  readonly failed: readonly number[];
  readonly label: string;
}) {
  const longer = completed.length > failed.length ? completed : failed;
  const max = Math.max(1, ...longer.map((_, at) => (completed[at] ?? 0) + (failed[at] ?? 0)));
  const step = WIDTH / Math.max(completed.length, failed.length, 1);
  const bars = (values: readonly number[], below: readonly number[]) =>
    values
      .map((value, at) => {
        if (value === 0) return "";
        const height = Math.max((value / max) * HEIGHT, 1);
        const base = HEIGHT - ((below[at] ?? 0) / max) * HEIGHT;
        return `M${(at * step).toFixed(1)} ${base.toFixed(1)}v${(-height).toFixed(1)}h${Math.max(step - 0.6, 0.6).toFixed(1)}v${height.toFixed(1)}z`;
      })
      .join("");
  return (
    <svg className="spark" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      <path d={bars(completed, [])} fill="var(--completed)" />
      <path d={bars(failed, completed)} fill="var(--failed)" />
    </svg>
  );
}
