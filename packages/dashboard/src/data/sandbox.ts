import { useSearch } from "@tanstack/react-router";

export interface SandboxSearch {
  readonly sandbox?: string | undefined;
}

/** In the address of every page, and kept from page to page. */
export function readSandbox({ sandbox }: Record<string, unknown>): SandboxSearch {
  return sandbox === "true" ? { sandbox } : {};
}

/** What a query of the API says, for what the reader looks at: the sandbox, or everything else. */
export function useSandbox(): { readonly sandbox?: "true" } {
  const { sandbox } = useSearch({ strict: false });
  return sandbox === "true" ? { sandbox } : {};
}
