import type { AnswerOf } from "@bellhop/sdk";
import { SegmentedControl, TextInput } from "@mantine/core";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { curl } from "../data/examples.ts";
import { useList } from "../data/live.ts";
import { useMay } from "../data/session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { FormDialog, holding } from "../parts/form-dialog.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Once } from "../parts/once.tsx";
import { Empty } from "../parts/page.tsx";
import { RowButton } from "../parts/row-button.tsx";
import type { Column } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";

type ApiKey = AnswerOf<"listApiKeys">["apiKeys"][number];

export function ApiKeys() {
  const mayAct = useMay("admin");
  const keys = useList("keys", bellhop.apiKeys.list);
  const { new: isAsked } = useSearch({ from: "/keys" });
  const [isAdding, setAdding] = useState(false);
  // The palette asks for a new one, also while this page is open.
  useEffect(() => setAdding(isAsked === "true"), [isAsked]);
  const [made, setMade] = useState<string | null>(null);
  const [revoked, askRevoke] = useState<ApiKey | null>(null);
  const revoke = useAct(
    (key: ApiKey) => bellhop.apiKeys.revoke(key.id),
    (_, { name }) => `Revoked ${name}: it is refused on every node within a second`,
  );
  return (
    <ListPage
      title="API keys"
      query={keys}
      keyOf={({ id }) => id}
      columns={columnsOf(mayAct ? askRevoke : null)}
      newTitle="New key"
      onNew={mayAct ? () => setAdding(true) : null}
      empty={
        <Empty title="No API keys" code={curl("GET", "/v1/me")}>
          A key lets a program call this team’s API. A test key’s tasks are stored and never executed.
        </Empty>
      }
    >
      {isAdding ? <NewKey onClose={() => setAdding(false)} onMade={setMade} /> : null}
      {made === null ? null : (
        <Once
          title="Your new API key"
          secret={made}
          note="It is shown only once: only its hash is stored."
          onClose={() => setMade(null)}
        />
      )}
      {revoked === null ? null : (
        <Confirm
          title={`Revoke ${revoked.name}?`}
          action="Revoke it"
          onClose={() => askRevoke(null)}
          onConfirm={() => revoke.mutate(revoked)}
        >
          <p>
            Programs that use <code>{revoked.prefix}…</code> are refused from then on. It was last used{" "}
            {revoked.lastUsedAt === null ? "never" : <Ago at={revoked.lastUsedAt} />}.
          </p>
        </Confirm>
      )}
    </ListPage>
  );
}

function columnsOf(onRevoke: ((key: ApiKey) => void) | null): readonly Column<ApiKey>[] {
  return [
    { title: "Name", kind: "main", cell: ({ name }) => <span className="wrap">{name}</span> },
    { title: "Begins with", cell: ({ prefix }) => <span className="mono">{prefix}…</span> },
    {
      title: "Environment",
      cell: ({ environment }) =>
        environment === "test" ? <span className="tag warn">test</span> : <span className="tag">live</span>,
    },
    { title: "Last used", at: ({ lastUsedAt }) => lastUsedAt, never: "never" },
    { title: "Created", at: ({ createdAt }) => createdAt },
    {
      actions: (key) =>
        onRevoke === null ? null : <RowButton onClick={() => onRevoke(key)}>Revoke …</RowButton>,
    },
  ];
}

function NewKey({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (key: string) => void;
}) {
  const [name, setName] = useState("");
  const [environment, setEnvironment] = useState<"live" | "test">("live");
  const save = useAct(() => bellhop.apiKeys.create({ name, environment }));
  return (
    <FormDialog
      title="New API key"
      action="Create"
      save={save}
      onClose={onClose}
      onDone={({ key }) => onMade(key)}
    >
      <TextInput
        label="Name"
        description="The program that uses it, for when you revoke it"
        required
        data-autofocus
        {...holding(name, setName)}
      />
      <SegmentedControl
        aria-label="Environment"
        value={environment}
        onChange={(value) => setEnvironment(value === "test" ? "test" : "live")}
        data={[
          { value: "live", label: "Live" },
          { value: "test", label: "Test: stored, never executed" },
        ]}
      />
    </FormDialog>
  );
}
