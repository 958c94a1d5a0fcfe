import type { Bulk } from "@bellhop/sdk";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { curl } from "../data/examples.ts";
import { useLiveQuery } from "../data/live.ts";
import { useMay } from "../data/session.ts";
import { ListPage } from "../parts/list-page.tsx";
import { Empty } from "../parts/page.tsx";
import { RowButton } from "../parts/row-button.tsx";
import type { Column } from "../parts/table.tsx";

const SHOWN = 100;

/** Actions on many tasks, and how far each has come. */
export function BulkActions() {
  const mayAct = useMay("member");
  const bulks = useLiveQuery(["bulks"], ({ signal }) => newest(signal));
  return (
    <ListPage
      title="Bulk actions"
      query={bulks}
      keyOf={({ id }) => id}
      columns={columnsOf(mayAct)}
      newTitle=""
      onNew={null}
      empty={
        <Empty
          title="No bulk actions yet"
          code={curl("POST", "/v1/tasks/bulk", { action: "retry", filter: { status: "failed" } })}
        >
          A bulk action retries, dismisses, cancels or deletes every task that matches a filter, in the
          background. Select tasks in a list to start one.
        </Empty>
      }
    />
  );
}

function columnsOf(mayAct: boolean): readonly Column<Bulk>[] {
  return [
    { title: "Action", kind: "main", cell: ({ action }) => action },
    { title: "State", cell: ({ status }) => status },
    { title: "Progress", cell: (bulk) => <Progress bulk={bulk} /> },
    { title: "Done", kind: "num", label: "done", cell: ({ done }) => done.toLocaleString("en-US") },
    {
      title: "Skipped",
      kind: "num",
      label: "skipped",
      cell: ({ skipped }) => skipped.toLocaleString("en-US"),
    },
    { title: "Tasks", kind: "num", label: "tasks", cell: ({ matched }) => matched.toLocaleString("en-US") },
    { title: "Started", at: ({ createdAt }) => createdAt },
    { actions: (bulk) => (mayAct && bulk.status === "running" ? <Stop bulk={bulk} /> : null) },
  ];
}

function Progress({ bulk: { matched, done, skipped } }: { readonly bulk: Bulk }) {
  const percent = matched === 0 ? 100 : Math.floor(((done + skipped) / matched) * 100);
  return (
    <div className="progress" title={`${percent} %`} style={{ minWidth: 80 }}>
      <i style={{ width: `${percent}%` }} />
    </div>
  );
}

function Stop({ bulk: { id } }: { readonly bulk: Bulk }) {
  const stop = useAct(
    () => bellhop.tasks.bulk.stop(id),
    () => "Stopped: no further task is changed",
  );
  return <RowButton onClick={() => stop.mutate(undefined)}>Stop</RowButton>;
}

async function newest(signal: AbortSignal): Promise<Bulk[]> {
  const found: Bulk[] = [];
  for await (const bulk of bellhop.tasks.bulk.list({ limit: SHOWN }, { signal })) {
    found.push(bulk);
    if (found.length === SHOWN) break;
  }
  return found;
}
