import type { AnswerOf } from "@bellhop/sdk";
import { Select } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { useList } from "../../data/live.ts";
import { ROLES, type Role, useMay, useSession } from "../../data/session.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { List } from "../../parts/list-page.tsx";
import { Panel } from "../../parts/page.tsx";
import { RowButton } from "../../parts/row-button.tsx";

type Member = AnswerOf<"listMembers">["members"][number];

export function Members() {
  const isAdmin = useMay("admin");
  const session = useSession();
  const members = useList("members", bellhop.members.list);
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
      <List
        query={members}
        rows={3}
        keyOf={({ id }) => id}
        empty={null}
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
          { title: "Joined", at: ({ joinedAt }) => joinedAt },
          {
            actions: (member) =>
              isAdmin || isMe(member) ? (
                <RowButton onClick={() => askRemove(member)}>
                  {isMe(member) ? "Leave …" : "Remove …"}
                </RowButton>
              ) : null,
          },
        ]}
      />
      {removed === null ? null : (
        <Confirm
          title={isMe(removed) ? "Leave this team?" : `Remove ${removed.email}?`}
          action={isMe(removed) ? "Leave" : "Remove"}
          onClose={() => askRemove(null)}
          onConfirm={() => remove.mutate(removed)}
        >
          <p>Access ends within a second, on every node. An invitation restores it.</p>
        </Confirm>
      )}
    </Panel>
  );
}
