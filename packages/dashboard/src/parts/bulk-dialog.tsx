import type { BulkAction } from "@bellhop/sdk";
import { Button, Modal, NumberInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { plural } from "../data/format.ts";
import { Problem } from "./page.tsx";

export type BulkKind = "retry" | "cancel" | "delete" | "dismiss";

const WORDS = {
  retry: { title: "Retry all that match", deed: "Retry", about: "failed or cancelled" },
  cancel: { title: "Cancel all that match", deed: "Cancel", about: "not ended" },
  delete: { title: "Delete all that match", deed: "Delete", about: "pending" },
  dismiss: { title: "Dismiss all that match", deed: "Dismiss", about: "failed" },
} as const;

/** Counts first, asks, then shows how far it is. The server works it off, whether or not this stays open. */
export function BulkDialog({
  kind,
  filter,
  onClose,
}: {
  readonly kind: BulkKind;
  readonly filter: BulkAction["filter"];
  readonly onClose: () => void;
}) {
  const [rate, setRate] = useState(50);
  const [id, setId] = useState<string | null>(null);
  const isAll = Object.keys(filter).every((name) => name === "sandbox");
  const body: BulkAction = { action: kind, filter, ...(isAll ? { confirm: "all" as const } : {}) };
  const count = useQuery({
    queryKey: ["bulk-count", kind, JSON.stringify(filter)],
    queryFn: () => bellhop.tasks.bulk.count(body),
    gcTime: 0,
  });
  const start = useAct(() => bellhop.tasks.bulk.start({ ...body, rate }));
  const words = WORDS[kind];
  const isDanger = kind === "cancel" || kind === "delete";
  return (
    <Modal opened onClose={onClose} title={words.title} closeButtonProps={{ "aria-label": "Close" }}>
      {id !== null ? (
        <BulkProgress id={id} onClose={onClose} />
      ) : (
        <div className="form">
          {count.error ? <Problem error={count.error} /> : null}
          <p>
            {count.data === undefined ? "Counting …" : <strong>{plural(count.data, "task")}</strong>}
            {count.data === undefined ? null : ` that ${count.data === 1 ? "is" : "are"} ${words.about}`}
            {isAll ? ", of all queues: there is no filter." : "."}
          </p>
          {kind === "delete" ? <p>Their records are deleted. This cannot be undone.</p> : null}
          {kind === "cancel" ? <p>Calls in flight are aborted. A cancelled task can be retried.</p> : null}
          {kind === "dismiss" ? (
            <p>
              They stay failed and readable, and are no longer listed under Failures. A retry brings them
              back.
            </p>
          ) : null}
          <NumberInput
            label="Tasks a second"
            description="Protects a target that has just recovered"
            min={1}
            max={1000}
            value={rate}
            onChange={(value) => setRate(Number(value) || 50)}
          />
          <div className="row end">
            <Button onClick={onClose}>Close</Button>
            <Button
              variant="filled"
              {...(isDanger ? { color: "red" } : {})}
              disabled={!count.data}
              loading={start.isPending}
              onClick={() => start.mutate(undefined, { onSuccess: (bulk) => setId(bulk.id) })}
            >
              {words.deed} {count.data === undefined ? "" : plural(count.data, "task")}
            </Button>
          </div>
        </div>
      )}
    </Modal>
  );
}

function BulkProgress({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const bulk = useQuery({
    queryKey: ["bulk", id],
    queryFn: () => bellhop.tasks.bulk.get(id),
    refetchInterval: ({ state }) => (state.data?.status === "running" || !state.data ? 500 : false),
  });
  const queries = useQueryClient();
  const isDone = bulk.data !== undefined && bulk.data.status !== "running";
  // No event tells of a dismissed task.
  useEffect(() => {
    if (isDone) void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "bulk" });
  }, [isDone, queries]);
  const stop = useAct(
    () => bellhop.tasks.bulk.stop(id),
    () => "Stopped: no further task is changed",
  );
  if (!bulk.data) return null;
  const { status, matched, done, skipped } = bulk.data;
  const share = matched === 0 ? 1 : (done + skipped) / matched;
  return (
    <div className="form" role="status">
      <div className="progress">
        <i style={{ width: `${share * 100}%` }} />
      </div>
      <p className="num" style={{ textAlign: "left" }}>
        {(done + skipped).toLocaleString("en-US")} of {plural(matched, "task")}
        {skipped === 0 ? "" : `, ${skipped.toLocaleString("en-US")} no longer in a fitting state`}
        {status === "running" ? "" : ` · ${status}`}
      </p>
      <div className="row end">
        {status === "running" ? <Button onClick={() => stop.mutate(undefined)}>Stop</Button> : null}
        <Button variant="filled" onClick={onClose}>
          {status === "running" ? "Leave it running" : "Done"}
        </Button>
      </div>
    </div>
  );
}
