import type { AnswerOf } from "@bellhop/sdk";
import { bellhop } from "../../data/client.ts";
import { useLiveQuery } from "../../data/live.ts";
import { Loaded, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";

type Limit = AnswerOf<"getMe">["limits"][string];

export function useMe() {
  return useLiveQuery(["me"], ({ signal }) => bellhop.me({ signal }), { everyMs: 10_000 });
}

/** What the plan allows, and how much of it is used. */
export function Use() {
  const me = useMe();
  return (
    <Panel title="Plan and use" flush>
      <Loaded query={me}>
        {({ limits }) => (
          <Table
            rows={Object.entries(limits).filter(([, limit]) => says(limit))}
            keyOf={([name]) => name}
            columns={[
              { title: "What", kind: "main", cell: ([name]) => words(name) },
              {
                title: "Used",
                kind: "num",
                label: "used",
                cell: ([, { used }]) => (typeof used === "number" ? used.toLocaleString("en-US") : "–"),
              },
              {
                title: "At most",
                kind: "num",
                label: "at most",
                cell: ([, { max, min }]) =>
                  typeof max === "number"
                    ? max.toLocaleString("en-US")
                    : typeof min === "number"
                      ? `at least ${min.toLocaleString("en-US")}`
                      : "no limit",
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}

/** Of what is neither bounded nor counted there is nothing to say. */
function says(limit: Limit): boolean {
  return [limit.used, limit.max, limit.min].some((figure) => typeof figure === "number");
}

/** `requestsPerMinute` → `Requests per minute`. */
function words(name: string): string {
  const text = name.replace(/_/g, " ").replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
