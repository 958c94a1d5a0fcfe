/** The variables that stand in for options which are not given. */
export type Variable = "BELLHOP_URL" | "BELLHOP_API_KEY" | "BELLHOP_SIGNING_SECRET";

/** An environment variable without surrounding spaces; undefined where it is empty, or the runtime has none. */
export function fromEnvironment(name: Variable | "NEXT_PHASE"): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name]?.trim() || undefined;
  } catch {
    // Deno asks for a permission, which the program may not have.
    return undefined;
  }
}
