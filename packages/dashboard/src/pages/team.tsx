import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { useList } from "../data/live.ts";
import { useMay, useSession } from "../data/session.ts";
import { FormDialog, holding } from "../parts/form-dialog.tsx";
import { Page, PageHead } from "../parts/page.tsx";
import { Invitations } from "./team/invitations.tsx";
import { Members } from "./team/members.tsx";
import { Sessions } from "./team/sessions.tsx";
import { SigningSecret } from "./team/signing-secret.tsx";
import { Use, useMe } from "./team/use.tsx";

export function TeamPage() {
  const session = useSession();
  const isAdmin = useMay("admin");
  // What stands below these would move when they come.
  const me = useMe();
  const members = useList("members", bellhop.members.list);
  const [naming, name] = useState<"this" | "new" | null>(null);
  if (session === null) return null;
  return (
    <Page title="Team">
      <PageHead
        title={
          <span className="row">
            {session.team.name} <span className="tag">{session.team.plan}</span>
          </span>
        }
      >
        {isAdmin ? <Button onClick={() => name("this")}>Rename …</Button> : null}
        <Button onClick={() => name("new")}>New team …</Button>
      </PageHead>
      <Members />
      {members.isPending || me.isPending ? null : (
        <>
          {isAdmin ? <Invitations /> : null}
          <div className="two">
            <Use />
            <div className="stack">
              {isAdmin ? <SigningSecret /> : null}
              <Sessions />
            </div>
          </div>
        </>
      )}
      {naming === null ? null : (
        <NameTeam current={naming === "this" ? session.team.name : null} onClose={() => name(null)} />
      )}
    </Page>
  );
}

function NameTeam({ current, onClose }: { readonly current: string | null; readonly onClose: () => void }) {
  const [name, setName] = useState(current ?? "");
  const save = useAct(
    async () => {
      if (current === null) await bellhop.teams.create({ name });
      else await bellhop.team.rename({ name });
    },
    () => (current === null ? `Created ${name}: switch to it in the menu at the bottom` : "Renamed"),
  );
  return (
    <FormDialog
      title={current === null ? "New team" : "Rename the team"}
      action={current === null ? "Create" : "Rename"}
      save={save}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...holding(name, setName)} />
    </FormDialog>
  );
}
