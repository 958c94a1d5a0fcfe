import { isLoopbackHost } from "./outbound/egress-policy.ts";

/**
 * Whether others than this machine can be expected to reach the server: it listens on more than loopback, says that the
 * world reaches it under some address, or trusts a proxy to tell who is calling. What is open to the developer at the
 * keyboard is closed to them.
 */
export function isExposed(server: {
  readonly host: string;
  readonly publicUrl: string | null;
  readonly trustProxy: readonly string[];
}): boolean {
  const { host, publicUrl, trustProxy } = server;
  if (!isLoopbackHost(host) || trustProxy.length > 0) return true;
  return publicUrl !== null && !isLoopbackHost(new URL(publicUrl).hostname.replace(/^\[|\]$/g, ""));
}
