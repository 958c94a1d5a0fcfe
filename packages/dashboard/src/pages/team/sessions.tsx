import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { useList } from "../../data/live.ts";
import { List } from "../../parts/list-page.tsx";
import { Panel } from "../../parts/page.tsx";
import { RowButton } from "../../parts/row-button.tsx";

/** Where the reader is signed in. */
export function Sessions() {
  const sessions = useList("sessions", bellhop.sessions.list);
  const end = useAct(
    (id: string) => bellhop.sessions.end(id),
    () => "That session has ended",
  );
  return (
    <Panel title="Your sessions" flush>
      <List
        query={sessions}
        rows={2}
        keyOf={({ id }) => id}
        empty={null}
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
          { title: "Since", at: ({ createdAt }) => createdAt },
          { title: "Ends", at: ({ expiresAt }) => expiresAt },
          {
            actions: ({ id, current }) =>
              current ? null : <RowButton onClick={() => end.mutate(id)}>End</RowButton>,
          },
        ]}
      />
    </Panel>
  );
}
