import { isLoopbackHost } from "../outbound/egress-policy.ts";

/** Whether other machines can reach the server, and the setting that decides it. */
export interface Exposure {
  readonly exposed: boolean;
  readonly why: string;
}

/**
 * A server is exposed if it listens on more than loopback, has a public URL, or trusts a proxy. Defaults for developers
 * are disabled on it.
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

/** A value in effect, and its reason. */
export interface InForce<T extends string> {
  readonly value: T;
  readonly why: string;
}

/** The operator's setting; otherwise the default for an exposed server, or for a developer's own. */
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
