import { Button } from "@mantine/core";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { useLiveQuery } from "../../data/live.ts";
import { Loaded, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";

/** Where the reader is signed in. */
export function Sessions() {
  const sessions = useLiveQuery(["sessions"], ({ signal }) => bellhop.sessions.list({ signal }), {
    everyMs: 15_000,
  });
  const end = useAct(
    (id: string) => bellhop.sessions.end(id),
    () => "That session is over",
  );
  return (
    <Panel title="Your sessions" flush>
      <Loaded query={sessions} rows={2}>
        {(known) => (
          <Table
            rows={known}
            keyOf={({ id }) => id}
            columns={[
              {
                title: "Team",
                kind: "main",
                cell: ({ team, current }) => (
                  <span className="row">
                    <span className="clip">{team.name}</span>
                    {current ? <span className="tag">this one</span> : null}
                  </span>
                ),
              },
              {
                title: "Since",
                kind: "num",
                label: "since",
                cell: ({ createdAt }) => <Ago at={createdAt} />,
              },
              { title: "Ends", kind: "num", label: "ends", cell: ({ expiresAt }) => <Ago at={expiresAt} /> },
              {
                title: "Actions",
                kind: "actions",
                cell: ({ id, current }) =>
                  current ? null : (
                    <Button size="compact-xs" onClick={() => end.mutate(id)}>
                      End
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
