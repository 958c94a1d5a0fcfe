import { OAuthRefusal } from "../../domain/identity/oauth-refusal.ts";
import { isScope, SCOPES, type Scope } from "../../domain/identity/scope.ts";
import { closestName } from "../../domain/spelling.ts";

/** Parameters by name; empty ones count as omitted (RFC 6749, 3.1). */
export type Parameters = ReadonlyMap<string, string>;

export interface ReceivedParameters {
  readonly parameters: Parameters;
  /** Repeated names, which the RFC forbids: two programs may each read another value. */
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

/** The requested scope names in the form of the RFC (3.3); null if there are none. */
export function readScopeNames(parameters: Parameters): readonly string[] | null {
  const names = parameters.get("scope")?.split(" ") ?? null;
  // Strict: a list misread as empty would grant every scope of the application.
  if (names?.includes(""))
    throw new OAuthRefusal("invalid_scope", "scope must hold names with one space between them");
  return names;
}

/** Without names all scopes of the application; never more. */
export function chooseScopes(names: readonly string[] | null, allowed: readonly Scope[]): readonly Scope[] {
  if (names === null) return allowed;
  const unknown = names.find((name) => !isScope(name));
  if (unknown !== undefined) throw unknownScope(unknown);
  const scopes = SCOPES.filter((scope) => names.includes(scope));
  const excess = scopes.find((scope) => !allowed.includes(scope));
  if (excess !== undefined)
    throw new OAuthRefusal("invalid_scope", `The application does not have the scope ${excess}`);
  return scopes;
}

function unknownScope(name: string): OAuthRefusal {
  const meant = closestName(name, SCOPES);
  return new OAuthRefusal(
    "invalid_scope",
    `Unknown scope ${name}${meant === undefined ? "" : ` (did you mean ${meant}?)`}`,
  );
}
