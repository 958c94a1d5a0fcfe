import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Complaint } from "../../data/health.ts";
import { usePause } from "../../data/queues.ts";
import { useMay } from "../../data/session.ts";
import { BulkDialog } from "../../parts/bulk-dialog.tsx";
import { Empty, Panel } from "../../parts/page.tsx";
import { RowButton } from "../../parts/row-button.tsx";
import { Table } from "../../parts/table.tsx";

const SHOWN = 8;

/** What is not well, with what can be done about it one step away. */
export function Attention({ complaints }: { readonly complaints: readonly Complaint[] }) {
  const mayAct = useMay("member");
  const pause = usePause();
  const [retried, retry] = useState<Complaint | null>(null);
  return (
    <Panel title="Needs attention" flush>
      {complaints.length === 0 ? (
        <Empty title="Nothing does">
          Failures, open circuit breakers, queues with a backlog and paused queues are listed here.
        </Empty>
      ) : (
        <Table
          rows={complaints.slice(0, SHOWN)}
          keyOf={({ queue, kind, text, group }) => `${queue} ${kind} ${group?.sampleTask ?? text}`}
          columns={[
            {
              title: "Queue",
              kind: "main",
              width: "28%",
              cell: ({ queue }) => (
                <Link to="/queues/$name" params={{ name: queue }} className="clip">
                  {queue}
                </Link>
              ),
            },
            {
              title: "What",
              cell: ({ text, kind, words, group }) => (
                <span style={{ color: kind === "failing" || kind === "held" ? "var(--failed)" : undefined }}>
                  {group === null ? (
                    text
                  ) : (
                    <Link to="/tasks/$id" params={{ id: group.sampleTask }} title="Open one of them">
                      {text}
                    </Link>
                  )}
                  {words === null ? null : (
                    <span className="words small muted" title={words}>
                      {words}
                    </span>
                  )}
                </span>
              ),
            },
            {
              actions: (complaint) =>
                mayAct ? (
                  <>
                    {complaint.group === null ? null : (
                      <RowButton onClick={() => retry(complaint)}>Retry …</RowButton>
                    )}
                    <RowButton
                      onClick={() =>
                        pause.mutate({ names: [complaint.queue], isPaused: complaint.kind !== "paused" })
                      }
                    >
                      {complaint.kind === "paused" ? "Resume" : "Pause"}
                    </RowButton>
                  </>
                ) : null,
            },
          ]}
        />
      )}
      {retried?.group ? (
        <BulkDialog kind="retry" filter={retried.group.filter} onClose={() => retry(null)} />
      ) : null}
    </Panel>
  );
}
