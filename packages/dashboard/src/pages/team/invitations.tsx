import { Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { useList } from "../../data/live.ts";
import { ROLES, type Role } from "../../data/session.ts";
import { FormDialog, holding } from "../../parts/form-dialog.tsx";
import { List } from "../../parts/list-page.tsx";
import { Panel } from "../../parts/page.tsx";
import { RowButton } from "../../parts/row-button.tsx";

export function Invitations() {
  const invitations = useList("invitations", bellhop.invitations.list);
  const [isInviting, setInviting] = useState(false);
  const revoke = useAct(
    (id: string) => bellhop.invitations.revoke(id),
    ({ email }) => `The invitation of ${email} is revoked`,
  );
  return (
    <Panel
      title="Open invitations"
      flush
      actions={<RowButton onClick={() => setInviting(true)}>Invite …</RowButton>}
    >
      <List
        query={invitations}
        rows={2}
        keyOf={({ id }) => id}
        empty="None. Invited people join by signing in with that address."
        columns={[
          { title: "Mail address", kind: "main", cell: ({ email }) => <span className="wrap">{email}</span> },
          { title: "As", cell: ({ role }) => role },
          { title: "By", cell: ({ invitedBy }) => <span className="muted">{invitedBy}</span> },
          { title: "Ends", at: ({ expiresAt }) => expiresAt },
          { actions: ({ id }) => <RowButton onClick={() => revoke.mutate(id)}>Revoke</RowButton> },
        ]}
      />
      {isInviting ? <Invite onClose={() => setInviting(false)} /> : null}
    </Panel>
  );
}

function Invite({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const save = useAct(
    () => bellhop.invitations.create({ email, role }),
    () => `Invited ${email}`,
  );
  return (
    <FormDialog title="Invite a person" action="Invite" save={save} onClose={onClose}>
      <TextInput label="Mail address" type="email" required data-autofocus {...holding(email, setEmail)} />
      <Select
        label="Role"
        description="Viewers read, members create and change tasks, admins manage keys and people, owners everything"
        data={ROLES}
        allowDeselect={false}
        value={role}
        onChange={(value) => setRole(ROLES.find((known) => known === value) ?? "member")}
      />
    </FormDialog>
  );
}
