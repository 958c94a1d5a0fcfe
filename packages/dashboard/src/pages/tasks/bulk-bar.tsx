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

const KINDS: readonly BulkKind[] = ["retry", "dismiss", "cancel", "delete"];
const TITLES = { retry: "Retry", dismiss: "Dismiss", cancel: "Cancel", delete: "Delete" } as const;

/** Which of the actions a task's state allows. */
export function fits(kind: BulkKind, { status }: TaskSummary): boolean {
  if (kind === "retry") return status === "failed" || status === "cancelled";
  if (kind === "dismiss") return status === "failed";
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

/** An action that the reader is asked about, and the tasks that are meant. */
export interface Asked {
  readonly kind: BulkKind;
  readonly ids: ReadonlySet<string>;
}

/** Actions on the selected rows; where all that are loaded are selected, on all that match. */
export function SelectionBar({
  rows,
  selected,
  search,
  total,
  onAsk,
  onClear,
}: {
  readonly rows: readonly TaskSummary[];
  readonly selected: ReadonlySet<string>;
  readonly search: TaskSearch;
  readonly total: Total | null;
  readonly onAsk: (asked: Asked) => void;
  readonly onClear: () => void;
}) {
  const [isAll, setAll] = useState(false);
  const [bulk, setBulk] = useState<BulkKind | null>(null);
  const chosen = rows.filter(({ id }) => selected.has(id));
  const isEveryRow = chosen.length > 0 && chosen.length === rows.length;
  const hasMore = total !== null && (total.isCapped || total.count > rows.length);
  // A row that is taken out of the selection takes back "all that match".
  const meansAll = isAll && isEveryRow;
  if (chosen.length === 0) return null;
  return (
    <div className="bulk-bar">
      <span>
        {meansAll && total !== null ? `All ${formatTotal(total)} that match` : `${chosen.length} selected`}
      </span>
      {isEveryRow && hasMore && !meansAll ? (
        <Button size="compact-xs" variant="subtle" onClick={() => setAll(true)}>
          Select all {formatTotal(total)} that match
        </Button>
      ) : null}
      {KINDS.map((kind) => {
        const count = chosen.filter((task) => fits(kind, task)).length;
        return meansAll ? (
          <Button key={kind} size="compact-xs" onClick={() => setBulk(kind)}>
            {TITLES[kind]} …
          </Button>
        ) : (
          <Button
            key={kind}
            size="compact-xs"
            disabled={count === 0}
            onClick={() => onAsk({ kind, ids: selected })}
          >
            {TITLES[kind]} {count}
          </Button>
        );
      })}
      <Button
        size="compact-xs"
        variant="subtle"
        onClick={() => {
          setAll(false);
          onClear();
        }}
      >
        Clear
      </Button>
      {bulk === null ? null : (
        <BulkDialog kind={bulk} filter={filterOf(search)} onClose={() => setBulk(null)} />
      )}
    </div>
  );
}

const WARNINGS = {
  retry: "Each is called again, with all its retries. A call cannot be undone.",
  dismiss: "Nobody needs to look at them any more. A retry takes it back.",
  cancel:
    "Calls in flight are aborted; their targets may have acted on them. A cancelled task can be retried.",
  delete: "Their records are deleted. This cannot be undone.",
} as const;

/** Asks, and then acts on those whose state allows it. */
export function AskedAction({
  rows,
  asked: { kind, ids },
  onDone,
  onClose,
}: {
  readonly rows: readonly TaskSummary[];
  readonly asked: Asked;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const [fitting] = useState(() => rows.filter((task) => ids.has(task.id) && fits(kind, task)));
  const act = useAct(
    () =>
      actOnEach(
        kind,
        fitting.map(({ id }) => id),
      ),
    ({ done, refused }) => {
      onDone();
      return `${TITLES[kind]}: ${plural(done, "task")}${refused === 0 ? "" : `, ${refused} refused`}`;
    },
  );
  return (
    <Confirm
      title={`${TITLES[kind]} ${plural(fitting.length, "task")}`}
      action={TITLES[kind]}
      isBusy={act.isPending}
      onClose={onClose}
      onConfirm={() => act.mutate(undefined)}
    >
      <p>{WARNINGS[kind]}</p>
    </Confirm>
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
