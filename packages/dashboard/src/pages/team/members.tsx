import type { AnswerOf } from "@bellhop/sdk";
import { Button, Select } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { useLiveQuery } from "../../data/live.ts";
import { ROLES, type Role, useMay, useSession } from "../../data/session.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Loaded, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";

type Member = AnswerOf<"listMembers">["members"][number];

export function Members() {
  const isAdmin = useMay("admin");
  const session = useSession();
  const members = useLiveQuery(["members"], ({ signal }) => bellhop.members.list({ signal }), {
    everyMs: 10_000,
  });
  const [removed, askRemove] = useState<Member | null>(null);
  const change = useAct(
    ({ id, role }: { id: string; role: Role }) => bellhop.members.changeRole(id, { role }),
    ({ email, role }) => `${email} is ${role} now`,
  );
  const remove = useAct(
    (member: Member) => (isMe(member) ? bellhop.team.leave() : bellhop.members.remove(member.id)),
    (_, { email }) => `${email} is no longer in the team`,
  );
  const isMe = ({ email }: Member) => email === session?.person?.email;
  return (
    <Panel title="Members" flush>
      <Loaded query={members} rows={3}>
        {(known) => (
          <Table
            rows={known}
            keyOf={({ id }) => id}
            columns={[
              {
                title: "Mail address",
                kind: "main",
                cell: (member) => (
                  <span className="row">
                    <span className="clip">{member.email}</span>
                    {isMe(member) ? <span className="tag">you</span> : null}
                  </span>
                ),
              },
              {
                title: "Role",
                cell: ({ id, email, role }) =>
                  isAdmin ? (
                    <Select
                      aria-label={`Role of ${email}`}
                      data={ROLES}
                      allowDeselect={false}
                      w={120}
                      value={role}
                      onChange={(value) => {
                        const next = ROLES.find((known) => known === value);
                        if (next !== undefined && next !== role) change.mutate({ id, role: next });
                      }}
                    />
                  ) : (
                    role
                  ),
              },
              {
                title: "Joined",
                kind: "num",
                label: "joined",
                cell: ({ joinedAt }) => <Ago at={joinedAt} />,
              },
              {
                title: "Actions",
                kind: "actions",
                cell: (member) =>
                  isAdmin || isMe(member) ? (
                    <Button size="compact-xs" onClick={() => askRemove(member)}>
                      {isMe(member) ? "Leave …" : "Remove …"}
                    </Button>
                  ) : null,
              },
            ]}
          />
        )}
      </Loaded>
      {removed === null ? null : (
        <Confirm
          title={isMe(removed) ? "Leave this team?" : `Remove ${removed.email}?`}
          action={isMe(removed) ? "Leave" : "Remove"}
          onClose={() => askRemove(null)}
          onConfirm={() => {
            remove.mutate(removed);
            askRemove(null);
          }}
        >
          <p>Access ends within a second, on every node. An invitation brings it back.</p>
        </Confirm>
      )}
    </Panel>
  );
}
