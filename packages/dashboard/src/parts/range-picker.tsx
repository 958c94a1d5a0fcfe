import { SegmentedControl } from "@mantine/core";
import { RANGE_NAMES, RANGES, type Range } from "../data/ranges.ts";

export function RangePicker({
  range,
  onChange,
}: {
  readonly range: Range;
  readonly onChange: (range: Range) => void;
}) {
  return (
    <SegmentedControl
      aria-label="Range of time"
      value={range}
      onChange={(value) => onChange(RANGES.find((known) => known === value) ?? "1h")}
      data={RANGES.map((value) => ({ value, label: RANGE_NAMES[value] }))}
    />
  );
}
