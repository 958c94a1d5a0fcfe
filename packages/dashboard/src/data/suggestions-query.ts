import { useQuery } from "@tanstack/react-query";
import { bellhop } from "./client.ts";
import { useSandbox } from "./sandbox.ts";
import { type Suggestion, suggestionsOf } from "./suggestions.ts";

const LOOKED_AT = 100;

/** Tags, hosts and metadata of the newest tasks and of the newest failed ones, most frequent first. */
export function useSuggestions(isWanted = true): readonly Suggestion[] {
  const sandbox = useSandbox();
  const found = useQuery({
    queryKey: ["suggestions", sandbox],
    queryFn: async ({ signal }) => {
      const newest = (query: { status?: "failed" }) =>
        bellhop.tasks.page({ ...query, ...sandbox, limit: LOOKED_AT }, { signal });
      const [failed, all] = await Promise.all([newest({ status: "failed" }), newest({})]);
      return suggestionsOf([...failed.tasks, ...all.tasks]);
    },
    enabled: isWanted,
    staleTime: 30_000,
  });
  return found.data ?? NONE;
}

const NONE: readonly Suggestion[] = [];
