import type { AnswerOf } from "@bellhop/sdk";
import { PasswordInput, TagsInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { curl } from "../data/examples.ts";
import { useList } from "../data/live.ts";
import { useMay } from "../data/session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Id } from "../parts/copy.tsx";
import { FormDialog, holding } from "../parts/form-dialog.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Empty } from "../parts/page.tsx";
import { RowButton } from "../parts/row-button.tsx";
import type { Column } from "../parts/table.tsx";

type Token = AnswerOf<"listTokens">["tokens"][number];

export function Vault() {
  const mayAct = useMay("member");
  const tokens = useList("tokens", bellhop.tokens.list);
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
          Store a third party’s credential once. From then on a header names it, and Bellhop puts it in at the
          moment of the call: it appears in no record, no log and no error.
        </Empty>
      }
    >
      {isAdding ? <NewToken onClose={() => setAdding(false)} /> : null}
      {revoked === null ? null : (
        <Confirm
          title={`Revoke ${revoked.name}?`}
          action="Revoke it"
          onClose={() => askRevoke(null)}
          onConfirm={() => revoke.mutate(revoked)}
        >
          <p>
            Its value is erased, and there is no way back. Every task that names{" "}
            <code className="wrap">{revoked.id}</code> and has not ended fails at its next call, without one
            being made.
          </p>
        </Confirm>
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
    {
      actions: (token) =>
        onRevoke === null ? null : <RowButton onClick={() => onRevoke(token)}>Revoke …</RowButton>,
    },
  ];
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
        label="Hosts that it may be sent to"
        description="api.example.com, *.example.com; none: any host"
        value={hosts}
        onChange={setHosts}
      />
    </FormDialog>
  );
}
