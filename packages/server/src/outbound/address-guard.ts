export type GuardVerdict =
  | { readonly allowed: true }
  /** The sentence is recorded unchanged: it may name the host, never a header or a credential. */
  | { readonly allowed: false; readonly message: string };

/**
 * The check of the egress policy. Called once per new connection, with every address of the host (an IP literal is its
 * only address); the connection then goes to one of exactly these addresses, without another lookup.
 */
export interface AddressGuard {
  check(hostname: string, addresses: readonly string[], port: number): GuardVerdict;
  /** Called before, for a guard that can refuse by name and port: a refused name is never looked up. */
  checkName?(hostname: string, port: number): GuardVerdict;
}

export const allowAll: AddressGuard = {
  check: () => ({ allowed: true }),
};
