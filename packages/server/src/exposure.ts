import { isLoopbackHost } from "./outbound/egress-policy.ts";

/** Whether others than this machine can be expected to reach the server, and the setting that says so, for the operator. */
export interface Exposure {
  readonly exposed: boolean;
  readonly why: string;
}

/**
 * A server that listens on more than loopback, says that the world reaches it under some address, or trusts a proxy to
 * tell who is calling. What is open to the developer at the keyboard is closed to them.
 */
export function exposureOf(server: {
  readonly host: string;
  readonly publicUrl: string | null;
  readonly trustProxy: readonly string[];
}): Exposure {
  const { host, publicUrl, trustProxy } = server;
  if (!isLoopbackHost(host)) return { exposed: true, why: `HOST ${host} can be reached from outside` };
  if (publicUrl !== null && !isLoopbackHost(new URL(publicUrl).hostname.replace(/^\[|\]$/g, "")))
    return { exposed: true, why: `BELLHOP_PUBLIC_URL ${publicUrl} can be reached from outside` };
  if (trustProxy.length > 0) return { exposed: true, why: "BELLHOP_TRUST_PROXY names a proxy" };
  return { exposed: false, why: `HOST ${host} is this machine only` };
}

/** A setting that is in force, and why. */
export interface InForce<T extends string> {
  readonly value: T;
  readonly why: string;
}

/** What the operator says by name; otherwise the one for an exposed server, or the one for a developer's own. */
export function choose<T extends string>(
  name: string,
  given: T | null,
  exposure: Exposure,
  choices: { readonly exposed: T; readonly own: T },
): InForce<T> {
  if (given !== null) return { value: given, why: `set by ${name}` };
  const { exposed, why } = exposure;
  return {
    value: exposed ? choices.exposed : choices.own,
    why: exposed ? `${why}; ${name} says otherwise` : why,
  };
}
