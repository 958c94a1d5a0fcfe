import { readFileSync } from "node:fs";
import type { Provider } from "../../domain/poll/poll-config.ts";
import { PROVIDER_CATALOG } from "../../domain/poll/provider-catalog.ts";
import { readProviders } from "./provider-file.ts";

export interface ProviderService {
  /** The catalog, in its order. */
  list(): readonly Provider[];
  find(id: string): Provider | null;
}

/**
 * The built-in catalog and the operator's own entries. An entry with the id of a built-in one replaces it, so that a
 * vendor's change does not require a new release. Others follow in order. Read once, at the start; tasks keep the
 * configuration of their creation.
 */
export function createProviderService(file: string | null): ProviderService {
  const own = file === null ? [] : readProviders(readText(file));
  const byId = new Map([...PROVIDER_CATALOG, ...own].map((provider) => [provider.id, provider]));
  const all = [...byId.values()];
  return {
    list: () => all,
    find: (id) => byId.get(id) ?? null,
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new Error(`BELLHOP_PROVIDERS_FILE names a file that cannot be read: ${file}`);
  }
}
