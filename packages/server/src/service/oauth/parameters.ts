import { OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";

/** Parameters by name; those without a value count as left out (RFC 6749, 3.1). */
export type Parameters = ReadonlyMap<string, string>;

export interface ReceivedParameters {
  readonly parameters: Parameters;
  /** Names that came more than once, which the RFC forbids: two programs may each believe another value. */
  readonly repeated: ReadonlySet<string>;
}

export function readParameters(sent: Iterable<[string, string]>): ReceivedParameters {
  const parameters = new Map<string, string>();
  const repeated = new Set<string>();
  const seen = new Set<string>();
  for (const [name, value] of sent) {
    if (seen.has(name)) repeated.add(name);
    seen.add(name);
    if (value !== "") parameters.set(name, value);
  }
  return { parameters, repeated };
}

/**
 * The scopes that are asked for, as the RFC (3.3) writes them; undefined if none are. The library takes a list that
 * begins with a space for an empty one, and whoever asks for nothing is given everything.
 */
export function readScope(parameters: Parameters): string | undefined {
  const scope = parameters.get("scope");
  if (scope?.split(" ").includes(""))
    throw new OAuthRefusal("invalid_scope", "scope must hold names with one space between them");
  return scope;
}
