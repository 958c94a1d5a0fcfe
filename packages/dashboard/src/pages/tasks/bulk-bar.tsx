import type { TaskSummary } from "@bellhop/sdk";
import { Button } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { plural } from "../../data/format.ts";
import { isEnded } from "../../data/status.ts";
import { filterOf, type TaskSearch } from "../../data/task-search.ts";
import { BulkDialog, type BulkKind } from "../../parts/bulk-dialog.tsx";
import { Confirm } from "../../parts/confirm.tsx";

const KINDS: readonly BulkKind[] = ["retry", "cancel", "delete"];
const TITLES = { retry: "Retry", cancel: "Cancel", delete: "Delete" } as const;

/** Which of the actions a task's state allows. */
function fits(kind: BulkKind, { status }: TaskSummary): boolean {
  if (kind === "retry") return status === "failed" || status === "cancelled";
  return kind === "cancel" ? !isEnded(status) : status === "pending";
}

/** Actions on the selected rows, or on everything that matches. */
export function BulkBar({
  search,
  rows,
  selected,
  total,
  onClear,
}: {
  readonly search: TaskSearch;
  readonly rows: readonly TaskSummary[];
  readonly selected: ReadonlySet<string>;
  readonly total: number | null;
  readonly onClear: () => void;
}) {
  const [bulk, setBulk] = useState<BulkKind | null>(null);
  const [asked, ask] = useState<BulkKind | null>(null);
  const chosen = rows.filter(({ id }) => selected.has(id));
  const act = useAct(
    (kind: BulkKind) =>
      actOnEach(
        kind,
        chosen.filter((task) => fits(kind, task)).map(({ id }) => id),
      ),
    ({ done, refused }, kind) => {
      onClear();
      return `${TITLES[kind]}: ${plural(done, "task")}${refused === 0 ? "" : `, ${refused} refused`}`;
    },
  );
  const isChosen = chosen.length > 0;
  return (
    <div className={isChosen ? "bulk-bar" : "bulk-bar quiet"}>
      <span>{isChosen ? `${chosen.length} selected` : "All that match:"}</span>
      {KINDS.map((kind) => {
        const count = chosen.filter((task) => fits(kind, task)).length;
        const start = () => (isChosen ? (kind === "retry" ? act.mutate(kind) : ask(kind)) : setBulk(kind));
        return (
          <Button key={kind} size="compact-xs" disabled={isChosen && count === 0} onClick={start}>
            {TITLES[kind]}
            {isChosen ? ` ${count}` : " …"}
          </Button>
        );
      })}
      {isChosen ? (
        <Button size="compact-xs" variant="subtle" onClick={onClear}>
          Clear
        </Button>
      ) : null}
      {total === null || isChosen ? null : <span className="muted">{plural(total, "task")}</span>}
      {bulk === null ? null : (
        <BulkDialog kind={bulk} filter={filterOf(search)} onClose={() => setBulk(null)} />
      )}
      {asked === null ? null : (
        <Confirm
          title={`${TITLES[asked]} ${plural(chosen.filter((task) => fits(asked, task)).length, "task")}`}
          action={TITLES[asked]}
          onClose={() => ask(null)}
          onConfirm={() => {
            act.mutate(asked);
            ask(null);
          }}
        >
          <p>
            {asked === "cancel"
              ? "Calls that are under way are broken off; their targets may have acted on them. A cancelled task can be retried."
              : "Their records are gone afterwards, and there is no way back."}
          </p>
        </Confirm>
      )}
    </div>
  );
}

/** Few at once: a hundred requests in the same moment would stand in the way of the page's own. */
async function actOnEach(kind: BulkKind, ids: readonly string[]) {
  const left = [...ids];
  let refused = 0;
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      await bellhop.tasks[kind](id).catch(() => {
        refused += 1;
      });
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return { done: ids.length - refused, refused };
}
