import type { AnswerOf } from "@bellhop/sdk";
import { useState } from "react";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { curl } from "../data/examples.ts";
import { useList } from "../data/live.ts";
import { useMay } from "../data/session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Empty } from "../parts/page.tsx";
import { RowButton } from "../parts/row-button.tsx";
import type { Column } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { Deliveries } from "./subscriptions/deliveries.tsx";
import { NewWebhook } from "./subscriptions/new-webhook.tsx";

type Webhook = AnswerOf<"listWebhooks">["webhooks"][number];
type Opened = { readonly kind: "delete" | "deliveries"; readonly webhook: Webhook } | "new" | null;

/** Where events are sent to. */
export function Subscriptions() {
  const mayAct = useMay("member");
  const webhooks = useList("webhooks", bellhop.webhooks.list, 5_000);
  const [opened, open] = useState<Opened>(null);
  const close = () => open(null);
  const remove = useAct(
    ({ id }: Webhook) => bellhop.webhooks.delete(id),
    () => "Deleted: no further events are sent there",
  );
  return (
    <ListPage
      title="Subscriptions"
      query={webhooks}
      keyOf={({ id }) => id}
      columns={columnsOf(mayAct, open)}
      newTitle="Subscribe"
      onNew={mayAct ? () => open("new") : null}
      empty={
        <Empty
          title="No subscriptions yet"
          code={curl("POST", "/v1/webhooks", {
            url: "http://127.0.0.1:9000/events",
            events: ["task.failed"],
          })}
        >
          A subscription sends this team’s events to your URL, signed and with retries.
        </Empty>
      }
    >
      {opened === "new" ? <NewWebhook onClose={close} /> : null}
      {opened !== null && opened !== "new" && opened.kind === "deliveries" ? (
        <Deliveries id={opened.webhook.id} url={opened.webhook.url} onClose={close} />
      ) : null}
      {opened !== null && opened !== "new" && opened.kind === "delete" ? (
        <Confirm
          title="Delete this subscription?"
          action="Delete it"
          onClose={close}
          onConfirm={() => remove.mutate(opened.webhook)}
        >
          <p className="wrap">
            Nothing more is sent to {opened.webhook.url}; what has not arrived yet is dropped. Turning it off
            can be undone.
          </p>
        </Confirm>
      ) : null}
    </ListPage>
  );
}

function columnsOf(mayAct: boolean, open: (opened: Opened) => void): readonly Column<Webhook>[] {
  return [
    {
      title: "URL",
      kind: "main",
      cell: ({ url }) => <span className="wrap">{url}</span>,
    },
    { title: "Events", cell: ({ events }) => <span className="muted small wrap">{events.join(" ")}</span> },
    {
      title: "Only",
      cell: ({ queue, tag }) => (
        <span className="row loose" style={{ gap: 4 }}>
          {queue === null ? null : <span className="tag">queue {queue}</span>}
          {tag === null ? null : <span className="tag">tag {tag}</span>}
        </span>
      ),
    },
    {
      title: "State",
      cell: (webhook) => <WebhookState webhook={webhook} />,
    },
    {
      actions: (webhook) => (
        <>
          <RowButton onClick={() => open({ kind: "deliveries", webhook })}>Deliveries</RowButton>
          {mayAct && webhook.enabled ? <Test webhook={webhook} /> : null}
          {mayAct ? <Switch webhook={webhook} /> : null}
          {mayAct ? <RowButton onClick={() => open({ kind: "delete", webhook })}>Delete …</RowButton> : null}
        </>
      ),
    },
  ];
}

/** One word for whether it sends: what is off is neither on nor failing. */
function WebhookState({ webhook: { enabled, failingSince, disabledAt } }: { readonly webhook: Webhook }) {
  if (!enabled && disabledAt === null) return <span className="tag warn">off</span>;
  if (disabledAt !== null) {
    return (
      <span style={{ color: "var(--failed)" }}>
        turned off after failures <Ago at={disabledAt} />
      </span>
    );
  }
  if (failingSince === null) return <span>on</span>;
  return (
    <span style={{ color: "var(--failed)" }}>
      failing for <Ago at={failingSince} bare />
    </span>
  );
}

function Test({ webhook: { id } }: { readonly webhook: Webhook }) {
  const test = useAct(
    () => bellhop.webhooks.test(id),
    () => "A test event is on its way: its deliveries show what became of it",
  );
  return <RowButton onClick={() => test.mutate(undefined)}>Test</RowButton>;
}

function Switch({ webhook: { id, enabled } }: { readonly webhook: Webhook }) {
  const set = useAct(
    (isOn: boolean) => bellhop.webhooks.update(id, { enabled: isOn }),
    (_, isOn) => (isOn ? "On: new events are sent" : "Off: no events are sent"),
  );
  return <RowButton onClick={() => set.mutate(!enabled)}>{enabled ? "Turn off" : "Turn on"}</RowButton>;
}
