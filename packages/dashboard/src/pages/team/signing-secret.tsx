import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Panel, Problem } from "../../parts/page.tsx";
import { RowButton } from "../../parts/row-button.tsx";
import { Ago } from "../../parts/time.tsx";

/** What receivers verify calls with. Fetched only when somebody asks to see it. */
export function SigningSecret() {
  const [isShown, setShown] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const secret = useQuery({
    queryKey: ["signing-secret"],
    queryFn: () => bellhop.signingSecret.get(),
    enabled: isShown,
    gcTime: 0,
  });
  const rotate = useAct(
    () => bellhop.signingSecret.rotate(),
    () => "A new secret signs calls; the old one signs too for 24 hours",
  );
  return (
    <Panel title="Signing secret" actions={<RowButton onClick={() => setAsking(true)}>Replace …</RowButton>}>
      <div className="stack">
        <p className="muted">
          Signs calls and notifications by the Standard Webhooks rules; receivers verify with it.
        </p>
        {secret.error ? <Problem error={secret.error} /> : null}
        {isShown && secret.data ? (
          <div className="once">
            <code>{secret.data.secret}</code>
            <span className="row">
              <Copy text={secret.data.secret} />
              <span className="small muted">
                made <Ago at={secret.data.createdAt} />
                {secret.data.previousValidUntil === null ? null : (
                  <>
                    ; the one before signs until <Ago at={secret.data.previousValidUntil} />
                  </>
                )}
              </span>
            </span>
          </div>
        ) : (
          <Button style={{ alignSelf: "flex-start" }} onClick={() => setShown(true)}>
            Show it
          </Button>
        )}
      </div>
      {isAsking ? (
        <Confirm
          title="Replace the signing secret?"
          action="Replace it"
          onClose={() => setAsking(false)}
          onConfirm={() => rotate.mutate(undefined)}
        >
          <p>
            For 24 hours calls carry two signatures, by the new secret and by the old one. Give receivers the
            new one until then.
          </p>
        </Confirm>
      ) : null}
    </Panel>
  );
}
