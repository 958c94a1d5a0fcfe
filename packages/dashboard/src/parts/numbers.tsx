import { formatCount, formatTotal, type Total } from "../data/format.ts";

/** Rounded, exact on hover. */
export function Count({ of }: { readonly of: number }) {
  return <span title={of.toLocaleString("en-US")}>{formatCount(of)}</span>;
}

/** Rounded like any count, but never where there may be more: then it says how far was counted. */
export function TotalCount({ of }: { readonly of: Total }) {
  if (!of.isCapped) return <Count of={of.count} />;
  return <span title="There may be more: the count is limited">{formatTotal(of)}</span>;
}
