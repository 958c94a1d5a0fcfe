import type { CSSProperties } from "react";
import type { Status } from "../data/status.ts";

/** A shape for each state, so that colour is not all that tells them apart. */
const SHAPES: Record<Status, string> = {
  pending: "M6 1.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9z",
  active: "M3 1.500 10 6 3 10.500z",
  waiting: "M2.500 1.500h7L6 6l3.500 4.500h-7L6 6z",
  polling: "M10.500 6A4.500 4.500 0 1 1 8 2M8 .500V2.500H6",
  completed: "M1.500 6.500 4.500 9.500 10.500 2.500",
  failed: "M2 2l8 8M10 2 2 10",
  cancelled: "M6 1.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9zM2.800 9.200 9.200 2.800",
};

export function toneOf(status: string): CSSProperties {
  return { "--tone": `var(--${status})` } as CSSProperties;
}

export function StateMark({ status, size = 12 }: { readonly status: Status; readonly size?: number }) {
  const isFilled = status === "active";
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 12 12"
      fill={isFilled ? "currentColor" : "none"}
      stroke="currentColor"
      strokeWidth={1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={SHAPES[status]} />
    </svg>
  );
}

export function State({ status }: { readonly status: Status }) {
  return (
    <span className="state" style={toneOf(status)}>
      <StateMark status={status} />
      {status}
    </span>
  );
}
