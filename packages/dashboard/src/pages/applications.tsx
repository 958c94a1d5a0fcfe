import type { AnswerOf } from "@bellhop/sdk";
import { Button, MultiSelect, TagsInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { curl } from "../data/examples.ts";
import { useLiveQuery } from "../data/live.ts";
import { useMay, useSession } from "../data/session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Id } from "../parts/copy.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Once } from "../parts/once.tsx";
import { Empty, Loaded, Panel } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";

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
  const applications = useLiveQuery(["applications"], ({ signal }) => bellhop.applications.list({ signal }), {
    everyMs: 10_000,
  });
  const [opened, open] = useState<Opened>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const remove = useAct(
    ({ clientId }: Application) => bellhop.applications.delete(clientId),
    (_, { name }) => `Deleted ${name}: its tokens are refused`,
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
          An application is somebody else’s program. It acts for a person who allowed it, within its scopes.
        </Empty>
      }
    >
      <Authorizations />
      {opened === "new" ? <NewApplication onClose={close} onMade={setSecret} /> : null}
      {secret === null ? null : (
        <Once
          title="The application’s secret"
          secret={secret}
          note="It is shown this once: only a digest of it is stored."
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
            close();
          }}
        >
          <p>
            {opened.kind === "delete"
              ? "Everything that people allowed it ends, and its tokens are refused."
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
      title: "Goes back to",
      cell: ({ redirectUris }) => <span className="muted small wrap">{redirectUris.join(" ") || "–"}</span>,
    },
    {
      title: "Registered",
      kind: "num",
      label: "registered",
      cell: ({ createdAt }) => <Ago at={createdAt} />,
    },
    {
      title: "Actions",
      kind: "actions",
      cell: (application) =>
        open === null ? null : (
          <span className="row" style={{ justifyContent: "flex-end" }}>
            <Button size="compact-xs" onClick={() => open({ kind: "rotate", application })}>
              New secret …
            </Button>
            <Button size="compact-xs" onClick={() => open({ kind: "delete", application })}>
              Delete …
            </Button>
          </span>
        ),
    },
  ];
}

/** What people have allowed applications to do here. */
function Authorizations() {
  const session = useSession();
  const isAdmin = useMay("admin");
  const allowed = useLiveQuery(["authorizations"], ({ signal }) => bellhop.authorizations.list({ signal }), {
    everyMs: 10_000,
  });
  const end = useAct(
    (id: string) => bellhop.authorizations.end(id),
    () => "It may do nothing here any more",
  );
  return (
    <Panel title="What people have allowed" flush>
      <Loaded query={allowed} rows={2}>
        {(known) =>
          known.length === 0 ? (
            <p className="panel-body muted">Nobody has allowed an application anything.</p>
          ) : (
            <Table
              rows={known}
              keyOf={({ id }) => id}
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
                {
                  title: "Until",
                  kind: "num",
                  label: "until",
                  cell: ({ expiresAt }) => <Ago at={expiresAt} />,
                },
                {
                  title: "Actions",
                  kind: "actions",
                  cell: ({ id, user }) =>
                    isAdmin || user.email === session?.person?.email ? (
                      <Button size="compact-xs" onClick={() => end.mutate(id)}>
                        End
                      </Button>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Loaded>
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
      saving={save}
      onClose={onClose}
      onSubmit={() =>
        save.mutate(undefined, {
          onSuccess: ({ clientSecret }) => {
            onClose();
            onMade(clientSecret);
          },
        })
      }
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TagsInput
        label="Where it takes people back to"
        placeholder="https://example.com/back"
        value={redirectUris}
        onChange={setRedirectUris}
      />
      <MultiSelect label="Scopes" data={SCOPES} value={scopes} onChange={setScopes} searchable />
      <MultiSelect label="Grants" data={GRANTS} value={grantTypes} onChange={setGrantTypes} />
    </FormDialog>
  );
}
