/**
 * Names with a meaning only inside a machine or a network. Their addresses are checked too; the names are refused
 * before a lookup, so that callers cannot probe which of them exist.
 */
const PRIVATE_SUFFIXES = [
  "localhost", // RFC 6761
  "localdomain", // what many systems append to localhost
  "internal", // set aside by ICANN; cloud metadata, private zones, host.docker.internal
  "local", // RFC 6762, and Kubernetes' cluster.local
  "home.arpa", // RFC 8375
] as const;

/** `example.com.` is `example.com`. Case and encodings are the URL parser's work and are done by now. */
export function trimHostname(hostname: string): string {
  return hostname.replace(/\.+$/, "");
}

/** A name without a dot is completed by the resolver from its own network's domain: `metadata`, `redis`. */
export function isPrivateName(name: string): boolean {
  return !name.includes(".") || PRIVATE_SUFFIXES.some((suffix) => name.endsWith(`.${suffix}`));
}
