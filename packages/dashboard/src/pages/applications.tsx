import type { AnswerOf } from "@bellhop/sdk";
import { MultiSelect, TagsInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { curl } from "../data/examples.ts";
import { useList } from "../data/live.ts";
import { useMay, useSession } from "../data/session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Id } from "../parts/copy.tsx";
import { FormDialog, holding } from "../parts/form-dialog.tsx";
import { List, ListPage } from "../parts/list-page.tsx";
import { Once } from "../parts/once.tsx";
import { Empty, Panel } from "../parts/page.tsx";
import { RowButton } from "../parts/row-button.tsx";
import type { Column } from "../parts/table.tsx";

type Application = AnswerOf<"listApplications">["applications"][number];
type Opened = { readonly kind: "delete" | "rotate"; readonly application: Application } | "new" | null;

const SCOPES = ["tasks", "queues", "schedules", "tokens", "apikeys", "webhooks", "team"].flatMap((name) => [
  `${name}:read`,
  `${name}:write`,
  ...(name === "tokens" ? ["tokens:use"] : []),
]);
const GRANTS = ["authorization_code", "refresh_token", "client_credentials"];

export function Applications() {
  const mayAct = useMay("admin");
  const applications = useList("applications", bellhop.applications.list);
  const [opened, open] = useState<Opened>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const remove = useAct(
    ({ clientId }: Application) => bellhop.applications.delete(clientId),
    (_, { name }) => `Deleted ${name}: its tokens are revoked`,
  );
  const rotate = useAct(({ clientId }: Application) => bellhop.applications.rotateSecret(clientId));
  const close = () => open(null);
  return (
    <ListPage
      title="OAuth applications"
      query={applications}
      keyOf={({ clientId }) => clientId}
      columns={columnsOf(mayAct ? open : null)}
      newTitle="Register an application"
      onNew={mayAct ? () => open("new") : null}
      empty={
        <Empty
          title="No applications yet"
          code={curl("POST", "/v1/oauth/applications", {
            name: "Reports",
            redirectUris: ["http://127.0.0.1:9001/back"],
            scopes: ["tasks:read"],
          })}
        >
          An application is a third-party program. It acts for a person who granted access, within its scopes.
        </Empty>
      }
    >
      {applications.isPending ? null : <Authorizations />}
      {opened === "new" ? <NewApplication onClose={close} onMade={setSecret} /> : null}
      {secret === null ? null : (
        <Once
          title="The application’s secret"
          secret={secret}
          note="It is shown only once: only its hash is stored."
          onClose={() => setSecret(null)}
        />
      )}
      {opened !== null && opened !== "new" ? (
        <Confirm
          title={opened.kind === "delete" ? `Delete ${opened.application.name}?` : "Replace its secret?"}
          action={opened.kind === "delete" ? "Delete it" : "Replace it"}
          onClose={close}
          onConfirm={() => {
            if (opened.kind === "delete") remove.mutate(opened.application);
            else
              rotate.mutate(opened.application, { onSuccess: ({ clientSecret }) => setSecret(clientSecret) });
          }}
        >
          <p>
            {opened.kind === "delete"
              ? "All its grants end, and its tokens are refused."
              : "The old secret is refused at once."}
          </p>
        </Confirm>
      ) : null}
    </ListPage>
  );
}

function columnsOf(open: ((opened: Opened) => void) | null): readonly Column<Application>[] {
  return [
    { title: "Name", kind: "main", cell: ({ name }) => <span className="wrap">{name}</span> },
    { title: "Client id", cell: ({ clientId }) => <Id id={clientId} /> },
    { title: "Scopes", cell: ({ scopes }) => <span className="muted small wrap">{scopes.join(" ")}</span> },
    {
      title: "Redirects to",
      cell: ({ redirectUris }) => <span className="muted small wrap">{redirectUris.join(" ") || "–"}</span>,
    },
    { title: "Registered", at: ({ createdAt }) => createdAt },
    {
      actions: (application) =>
        open === null ? null : (
          <>
            <RowButton onClick={() => open({ kind: "rotate", application })}>New secret …</RowButton>
            <RowButton onClick={() => open({ kind: "delete", application })}>Delete …</RowButton>
          </>
        ),
    },
  ];
}

/** Grants applications to do here. */
function Authorizations() {
  const session = useSession();
  const isAdmin = useMay("admin");
  const allowed = useList("authorizations", bellhop.authorizations.list);
  const end = useAct(
    (id: string) => bellhop.authorizations.end(id),
    () => "Its access is revoked",
  );
  return (
    <Panel title="Grants" flush>
      <List
        query={allowed}
        rows={2}
        keyOf={({ id }) => id}
        empty="No person has granted an application access."
        columns={[
          {
            title: "Application",
            kind: "main",
            cell: ({ application }) => (
              <span>
                {application.name} <span className="muted small">of {application.team}</span>
              </span>
            ),
          },
          { title: "Acts for", cell: ({ user }) => user.email },
          {
            title: "May",
            cell: ({ scopes }) => <span className="muted small wrap">{scopes.join(" ")}</span>,
          },
          { title: "Until", at: ({ expiresAt }) => expiresAt },
          {
            actions: ({ id, user }) =>
              isAdmin || user.email === session?.person?.email ? (
                <RowButton onClick={() => end.mutate(id)}>End</RowButton>
              ) : null,
          },
        ]}
      />
    </Panel>
  );
}

function NewApplication({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
}) {
  const [name, setName] = useState("");
  const [redirectUris, setRedirectUris] = useState<string[]>([]);
  const [scopes, setScopes] = useState<string[]>(["tasks:read"]);
  const [grantTypes, setGrantTypes] = useState<string[]>(["authorization_code", "refresh_token"]);
  const save = useAct(() => bellhop.applications.create({ name, redirectUris, scopes, grantTypes }));
  return (
    <FormDialog
      title="Register an application"
      action="Register"
      save={save}
      onClose={onClose}
      onDone={({ clientSecret }) => onMade(clientSecret)}
    >
      <TextInput label="Name" required data-autofocus {...holding(name, setName)} />
      <TagsInput
        label="Redirect URIs"
        placeholder="https://example.com/back"
        value={redirectUris}
        onChange={setRedirectUris}
      />
      <MultiSelect label="Scopes" data={SCOPES} value={scopes} onChange={setScopes} searchable />
      <MultiSelect label="Grants" data={GRANTS} value={grantTypes} onChange={setGrantTypes} />
    </FormDialog>
  );
}
