import type { TaskSummary } from "@bellhop/sdk";
import { Button, Menu } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { formatTotal, plural, type Total } from "../../data/format.ts";
import { isEnded } from "../../data/status.ts";
import { filterOf, type TaskSearch } from "../../data/task-search.ts";
import { BulkDialog, type BulkKind } from "../../parts/bulk-dialog.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Icon } from "../../parts/icon.tsx";

const KINDS: readonly BulkKind[] = ["retry", "cancel", "delete"];
const TITLES = { retry: "Retry", cancel: "Cancel", delete: "Delete" } as const;

/** Which of the actions a task's state allows. */
function fits(kind: BulkKind, { status }: TaskSummary): boolean {
  if (kind === "retry") return status === "failed" || status === "cancelled";
  return kind === "cancel" ? !isEnded(status) : status === "pending";
}

/** Actions on everything that matches, whether or not it is loaded. */
export function AllMenu({ search, total }: { readonly search: TaskSearch; readonly total: Total | null }) {
  const [bulk, setBulk] = useState<BulkKind | null>(null);
  return (
    <span className="chips-end">
      {total === null ? null : (
        <span className="num">
          {formatTotal(total)} {total.count === 1 && !total.isCapped ? "task" : "tasks"}
        </span>
      )}
      <Menu>
        <Menu.Target>
          <Button rightSection={<Icon name="down" size={12} />}>All that match</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {KINDS.map((kind) => (
            <Menu.Item key={kind} onClick={() => setBulk(kind)}>
              {TITLES[kind]} …
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {bulk === null ? null : (
        <BulkDialog kind={bulk} filter={filterOf(search)} onClose={() => setBulk(null)} />
      )}
    </span>
  );
}

/** Actions on the selected rows. */
export function SelectionBar({
  rows,
  selected,
  onClear,
}: {
  readonly rows: readonly TaskSummary[];
  readonly selected: ReadonlySet<string>;
  readonly onClear: () => void;
}) {
  const [asked, ask] = useState<BulkKind | null>(null);
  const chosen = rows.filter(({ id }) => selected.has(id));
  const fitting = (kind: BulkKind) => chosen.filter((task) => fits(kind, task));
  const act = useAct(
    (kind: BulkKind) =>
      actOnEach(
        kind,
        fitting(kind).map(({ id }) => id),
      ),
    ({ done, refused }, kind) => {
      onClear();
      return `${TITLES[kind]}: ${plural(done, "task")}${refused === 0 ? "" : `, ${refused} refused`}`;
    },
  );
  if (chosen.length === 0) return null;
  return (
    <div className="bulk-bar">
      <span>{chosen.length} selected</span>
      {KINDS.map((kind) => (
        <Button
          key={kind}
          size="compact-xs"
          disabled={fitting(kind).length === 0}
          onClick={() => (kind === "retry" ? act.mutate(kind) : ask(kind))}
        >
          {TITLES[kind]} {fitting(kind).length}
        </Button>
      ))}
      <Button size="compact-xs" variant="subtle" onClick={onClear}>
        Clear
      </Button>
      {asked === null ? null : (
        <Confirm
          title={`${TITLES[asked]} ${plural(fitting(asked).length, "task")}`}
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
