import { formatCount } from "../data/format.ts";

/** Rounded, exact on hover. */
export function Count({ of }: { readonly of: number }) {
  return <span title={of.toLocaleString("en-US")}>{formatCount(of)}</span>;
}
