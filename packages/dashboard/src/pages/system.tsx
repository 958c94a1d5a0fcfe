import type { AnswerOf } from "@bellhop/sdk";
import { bellhop } from "../data/client.ts";
import { formatDuration } from "../data/format.ts";
import { useLiveQuery } from "../data/live.ts";
import { Facts } from "../parts/facts.tsx";
import { Loaded, Page, PageHead, Panel } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";

type Node = AnswerOf<"getSystem">["nodes"][number];

/** Nodes and database, for those who run the server. */
export function System() {
  const system = useLiveQuery(["system"], ({ signal }) => bellhop.system({ signal }));
  return (
    <Page title="System">
      <PageHead title="System" />
      <Panel title="Nodes" flush>
        <Loaded query={system}>
          {({ nodes }) => <Table rows={nodes} keyOf={({ name }) => name} columns={columnsOf(nodes)} />}
        </Loaded>
      </Panel>
      <Panel title="Database">
        <Loaded query={system} rows={2}>
          {({ database }) => (
            <Facts
              facts={[
                [
                  "PostgreSQL",
                  <span key="version">
                    {database.version}{" "}
                    <span className="tag">{database.embedded ? "embedded" : "your own"}</span>
                  </span>,
                ],
                ["Schema", database.schema],
              ]}
            />
          )}
        </Loaded>
      </Panel>
    </Page>
  );
}

function columnsOf(nodes: readonly Node[]): readonly Column<Node>[] {
  const versions = new Set(nodes.map(({ version }) => version));
  return [
    { title: "Node", kind: "main", cell: ({ name }) => <span className="mono wrap">{name}</span> },
    { title: "Role", label: "role", cell: ({ role }) => role },
    {
      title: "Version",
      label: "version",
      cell: ({ version }) => (
        <span className="row">
          {version}
          {versions.size > 1 ? <span className="tag warn">differs</span> : null}
        </span>
      ),
    },
    {
      title: "Lease",
      label: "lease",
      cell: ({ lease }) => (
        <span className={lease === "held" || lease === "none" ? undefined : "tag bad"}>{lease}</span>
      ),
    },
    {
      title: "Calls",
      kind: "num",
      label: "calls",
      cell: ({ callsInFlight, maxInFlight }) => `${callsInFlight} of ${maxInFlight}`,
    },
    { title: "Slots", kind: "num", label: "slots", cell: ({ slots }) => slots },
    { title: "Heard of", kind: "num", label: "heard", cell: ({ lagMs }) => `${formatDuration(lagMs)} ago` },
    {
      title: "Clock",
      kind: "num",
      label: "clock",
      cell: ({ clockOffsetMs }) => (
        <span style={{ color: Math.abs(clockOffsetMs) > 1000 ? "var(--failed)" : undefined }}>
          {clockOffsetMs >= 0 ? "+" : "−"}
          {formatDuration(Math.abs(clockOffsetMs))}
        </span>
      ),
    },
    { title: "Up", kind: "num", label: "up", cell: ({ startedAt }) => <Ago at={startedAt} bare /> },
  ];
}
