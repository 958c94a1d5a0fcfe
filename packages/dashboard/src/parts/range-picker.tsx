import { SegmentedControl } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { RANGE_NAMES, RANGES, useRange } from "../data/ranges.ts";

/** Sets the range in the address. */
export function RangePicker() {
  const navigate = useNavigate();
  return (
    <SegmentedControl
      aria-label="Range of time"
      value={useRange()}
      onChange={(value) => {
        const range = RANGES.find((known) => known === value);
        void navigate({ to: ".", search: (search: object) => ({ ...search, range }), replace: true });
      }}
      data={RANGES.map((value) => ({ value, label: RANGE_NAMES[value] }))}
    />
  );
}
