export type GuardVerdict =
  | { readonly allowed: true }
  /** The sentence is recorded as it is: it may name the host, never a header or a credential. */
  | { readonly allowed: false; readonly message: string };

/**
 * The egress policy's door. Asked once per new connection, with every address of the host (a literal is its own
 * only address); the connection then goes to one of exactly these addresses, with no second lookup in between.
 */
export interface AddressGuard {
  check(hostname: string, addresses: readonly string[], port: number): GuardVerdict;
  /** Asked before that, for a guard that can refuse by name and port alone: what it refuses is never looked up. */
  checkName?(hostname: string, port: number): GuardVerdict;
}

export const allowAll: AddressGuard = {
  check: () => ({ allowed: true }),
};
