import type { AnswerOf } from "@bellhop/sdk";
import { bellhop } from "../data/client.ts";
import { formatBytes, formatDuration, formatPercent } from "../data/format.ts";
import { useLiveQuery } from "../data/live.ts";
import { Facts } from "../parts/facts.tsx";
import { Loaded, Page, PageHead, Panel } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Ago, Moment } from "../parts/time.tsx";

type Answer = AnswerOf<"getSystem">;
type Node = Answer["nodes"][number];

/** Nodes and database, for those who run the server. */
export function System() {
  const system = useLiveQuery(["system"], ({ signal }) => bellhop.system({ signal }));
  return (
    <Page title="System">
      <PageHead title="System" />
      <Loaded query={system} rows={8}>
        {({ nodes, database, events }) => (
          <>
            <Panel title="Nodes" flush>
              <Table rows={nodes} keyOf={({ name }) => name} columns={columnsOf(nodes)} />
            </Panel>
            <Panel title="Database">
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
                  ["Size", <Bytes key="size" of={database.sizeBytes} />],
                  [
                    "Connections",
                    <span key="connections" style={warnAt(database.connections / database.maxConnections)}>
                      {database.connections} of at most {database.maxConnections}
                    </span>,
                  ],
                  [
                    "Disk",
                    database.disk === null ? null : (
                      <span key="disk" style={warnAt(database.disk.usedPercent / 100)}>
                        {formatPercent(database.disk.usedPercent / 100)} used,{" "}
                        <Bytes of={database.disk.freeBytes} /> free
                      </span>
                    ),
                  ],
                  ["Events", <Delay key="events" of={events} />],
                ]}
              />
            </Panel>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Who holds event streams and webhooks back. */
function Delay({ of: { behindSeconds, holder } }: { readonly of: Answer["events"] }) {
  if (holder === null) return <span>not held back</span>;
  const { application, user, pid, state, since } = holder;
  return (
    <span className="wrap" style={{ color: "var(--failed)" }}>
      Event streams and webhooks have waited for {formatDuration(behindSeconds * 1000)}. A transaction has
      written events and has not ended: {application || "a program without a name"} as {user}
      {pid === null ? "" : `, process ${pid}`}
      {state === null ? "" : `, ${state}`}, since <Moment at={since} />.
    </span>
  );
}

/** Above this share, what is used up soon is shown in the colour of failures. */
const NEARLY_FULL = 0.9;

function warnAt(share: number) {
  return share >= NEARLY_FULL ? { color: "var(--failed)" } : undefined;
}

function Bytes({ of }: { readonly of: number }) {
  return <span title={`${of.toLocaleString("en-US")} bytes`}>{formatBytes(of)}</span>;
}

/** From here on, answers and heartbeats are noticeably late. */
const LATE_MS = 200;

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
    {
      title: "Loop lag",
      kind: "num",
      label: "loop lag",
      cell: ({ loopLagMs }) => (
        <span
          title="The longest delay of its event loop between its last two heartbeats"
          style={{ color: loopLagMs >= LATE_MS ? "var(--failed)" : undefined }}
        >
          {formatDuration(loopLagMs)}
        </span>
      ),
    },
    { title: "Up", kind: "num", label: "up", cell: ({ startedAt }) => <Ago at={startedAt} bare /> },
  ];
}
