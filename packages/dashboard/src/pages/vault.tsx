import type { AnswerOf } from "@bellhop/sdk";
import { PasswordInput, TagsInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { curl } from "../data/examples.ts";
import { plural } from "../data/format.ts";
import { useList } from "../data/live.ts";
import { useSandbox } from "../data/sandbox.ts";
import { useMay } from "../data/session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Id } from "../parts/copy.tsx";
import { FormDialog, holding } from "../parts/form-dialog.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Empty, Problem } from "../parts/page.tsx";
import { RowButton } from "../parts/row-button.tsx";
import type { Column } from "../parts/table.tsx";

type Token = AnswerOf<"listTokens">["tokens"][number];

export function Vault() {
  const mayAct = useMay("member");
  const tokens = useList("tokens", bellhop.tokens.list);
  const isSandbox = useSandbox().sandbox !== undefined;
  const [isAdding, setAdding] = useState(false);
  const [revoked, askRevoke] = useState<Token | null>(null);
  const revoke = useAct(
    (token: Token) => bellhop.tokens.revoke(token.id),
    (_, { name }) => `Revoked ${name}: its value is erased`,
  );
  return (
    <ListPage
      title="Vault"
      query={tokens}
      keyOf={({ id }) => id}
      columns={columnsOf(mayAct ? askRevoke : null)}
      newTitle="Store a credential"
      onNew={mayAct ? () => setAdding(true) : null}
      empty={
        <Empty
          title="No credentials yet"
          code={curl("POST", "/v1/tokens", {
            name: "some vendor",
            value: "Bearer sk-…",
            allowedHosts: ["api.example.com"],
          })}
        >
          Store a third party’s credential once. Headers then refer to it, and Bellhop inserts it at the
          moment of the call: it appears in no record, no log and no error.
        </Empty>
      }
    >
      {isSandbox ? (
        <p className="muted">These are live tokens. Only a test key sees the tokens of test keys.</p>
      ) : null}
      {isAdding ? <NewToken onClose={() => setAdding(false)} /> : null}
      {revoked === null ? null : (
        <Revoke token={revoked} onClose={() => askRevoke(null)} onConfirm={() => revoke.mutate(revoked)} />
      )}
    </ListPage>
  );
}

function columnsOf(onRevoke: ((token: Token) => void) | null): readonly Column<Token>[] {
  return [
    { title: "Name", kind: "main", cell: ({ name }) => <span className="wrap">{name}</span> },
    { title: "Named in headers as", cell: ({ id }) => <Id id={id} /> },
    {
      title: "May go to",
      cell: ({ allowedHosts }) =>
        allowedHosts === undefined ? (
          <span className="tag warn">any host</span>
        ) : (
          <span className="row loose" style={{ gap: 4 }}>
            {allowedHosts.map((host) => (
              <span key={host} className="tag">
                {host}
              </span>
            ))}
          </span>
        ),
    },
    { title: "Stored", at: ({ createdAt }) => createdAt },
    { title: "Last used", at: ({ lastUsedAt }) => lastUsedAt, never: "never" },
    {
      actions: (token) =>
        onRevoke === null ? null : <RowButton onClick={() => onRevoke(token)}>Revoke …</RowButton>,
    },
  ];
}

/** Says how many tasks will fail. A reader in a hurry need not wait for the count. */
function Revoke({
  token,
  onClose,
  onConfirm,
}: {
  readonly token: Token;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
}) {
  const found = useQuery({
    queryKey: ["token", token.id],
    queryFn: () => bellhop.tokens.get(token.id),
    gcTime: 0,
  });
  return (
    <Confirm title={`Revoke ${token.name}?`} action="Revoke it" onClose={onClose} onConfirm={onConfirm}>
      {found.error ? <Problem error={found.error} /> : null}
      <p>
        {found.data === undefined ? "Counting the open tasks that name it …" : toll(found.data.openTasks)}
      </p>
      <p>
        Its value is erased. This cannot be undone. New tasks that name{" "}
        <code className="wrap">{token.id}</code> are refused.
      </p>
    </Confirm>
  );
}

function toll({ count, isCapped }: AnswerOf<"getToken">["token"]["openTasks"]) {
  if (count === 0)
    return isCapped ? "None of the 10,000 open tasks that were checked names it." : "No open task names it.";
  return (
    <>
      <strong>
        {isCapped ? "At least " : ""}
        {plural(count, "open task")}
      </strong>{" "}
      {count === 1 ? "uses it and will fail at its" : "use it and will fail at their"} next call, without one
      being made.
    </>
  );
}

function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const [hosts, setHosts] = useState<string[]>([]);
  const save = useAct(
    () => bellhop.tokens.create({ name, value, ...(hosts.length === 0 ? {} : { allowedHosts: hosts }) }),
    ({ id }) => `Stored: name it as ${id} in a header`,
  );
  return (
    <FormDialog title="Store a credential" action="Store" save={save} onClose={onClose}>
      <TextInput label="Name" required data-autofocus {...holding(name, setName)} />
      <PasswordInput
        label="Value"
        description="The whole value of the header, such as Bearer sk-…. It is never shown again."
        required
        autoComplete="off"
        {...holding(value, setValue)}
      />
      <TagsInput
        label="Allowed hosts"
        description="api.example.com, *.example.com; none: any host"
        value={hosts}
        onChange={setHosts}
      />
    </FormDialog>
  );
}
