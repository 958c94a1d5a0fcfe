import { MOST_SAMPLES, type Sample } from "../../data/flows.ts";

const WIDTH = 120;
const HEIGHT = 24;

/** Active and waiting tasks of each look, as small bars; the newest at the right. */
export function FlowChart({ flow, samples }: { readonly flow: string; readonly samples: readonly Sample[] }) {
  const max = Math.max(1, ...samples.map(({ active, waiting }) => active + waiting));
  const step = WIDTH / MOST_SAMPLES;
  const offset = MOST_SAMPLES - samples.length;
  const bars = (heightOf: (sample: Sample) => number, baseOf: (sample: Sample) => number) =>
    samples
      .map((sample, at) => {
        if (heightOf(sample) === 0) return "";
        const height = Math.max((heightOf(sample) / max) * HEIGHT, 1);
        const base = HEIGHT - (baseOf(sample) / max) * HEIGHT;
        const x = ((offset + at) * step).toFixed(1);
        return `M${x} ${base.toFixed(1)}v${(-height).toFixed(1)}h${(step - 0.6).toFixed(1)}v${height.toFixed(1)}z`;
      })
      .join("");
  const label = `Active and waiting tasks of ${flow} since this page was opened, at most ${max} together`;
  return (
    <svg className="spark" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <title>{label}</title>
      <path
        d={bars(
          ({ active }) => active,
          () => 0,
        )}
        fill="var(--active)"
      />
      <path
        d={bars(
          ({ waiting }) => waiting,
          ({ active }) => active,
        )}
        fill="var(--pending)"
      />
    </svg>
  );
}
