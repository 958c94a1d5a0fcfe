import { Button, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { useLiveQuery } from "../../data/live.ts";
import { ROLES, type Role } from "../../data/session.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { Loaded, Panel } from "../../parts/page.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";

export function Invitations() {
  const invitations = useLiveQuery(["invitations"], ({ signal }) => bellhop.invitations.list({ signal }), {
    everyMs: 10_000,
  });
  const [isInviting, setInviting] = useState(false);
  const revoke = useAct(
    (id: string) => bellhop.invitations.revoke(id),
    ({ email }) => `The invitation of ${email} is revoked`,
  );
  return (
    <Panel
      title="Open invitations"
      flush
      actions={
        <Button size="compact-xs" onClick={() => setInviting(true)}>
          Invite …
        </Button>
      }
    >
      <Loaded query={invitations} rows={2}>
        {(known) =>
          known.length === 0 ? (
            <p className="panel-body muted">
              None. Whoever is invited joins by signing in with that address.
            </p>
          ) : (
            <Table
              rows={known}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: "Mail address",
                  kind: "main",
                  cell: ({ email }) => <span className="wrap">{email}</span>,
                },
                { title: "As", cell: ({ role }) => role },
                { title: "By", cell: ({ invitedBy }) => <span className="muted">{invitedBy}</span> },
                {
                  title: "Ends",
                  kind: "num",
                  label: "ends",
                  cell: ({ expiresAt }) => <Ago at={expiresAt} />,
                },
                {
                  title: "Actions",
                  kind: "actions",
                  cell: ({ id }) => (
                    <Button size="compact-xs" onClick={() => revoke.mutate(id)}>
                      Revoke
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
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
    <FormDialog
      title="Invite somebody"
      action="Invite"
      saving={save}
      onClose={onClose}
      onSubmit={() => save.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        label="Mail address"
        type="email"
        required
        data-autofocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Select
        label="Role"
        description="Viewers look, members send and change tasks, admins manage keys and people, owners all of it"
        data={ROLES}
        allowDeselect={false}
        value={role}
        onChange={(value) => setRole(ROLES.find((known) => known === value) ?? "member")}
      />
    </FormDialog>
  );
}
