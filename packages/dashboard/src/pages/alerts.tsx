import { useState } from "react";
import { useAct } from "../data/act.ts";
import { type Alert, conditionText, targetOf, useAlerts, valueText } from "../data/alerts.ts";
import { bellhop } from "../data/client.ts";
import { curl } from "../data/examples.ts";
import { useMay } from "../data/session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Empty } from "../parts/page.tsx";
import { RowButton } from "../parts/row-button.tsx";
import { StateMark, toneOf } from "../parts/state.tsx";
import type { Column } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { AlertDialog } from "./alerts/alert-dialog.tsx";

type Opened = { readonly kind: "edit" | "delete"; readonly alert: Alert } | "new" | null;

/** Conditions, their state, and who is notified. */
export function Alerts() {
  const mayAct = useMay("member");
  const alerts = useAlerts();
  const [opened, open] = useState<Opened>(null);
  const close = () => open(null);
  const remove = useAct(
    ({ id }: Alert) => bellhop.alerts.delete(id),
    (_, { name }) => `Deleted ${name}`,
  );
  return (
    <ListPage
      title="Alerts"
      query={alerts}
      keyOf={({ id }) => id}
      columns={columnsOf(mayAct, open)}
      newTitle="New alert"
      onNew={mayAct ? () => open("new") : null}
      empty={
        <Empty
          title="No alerts yet"
          code={curl("POST", "/v1/alerts", {
            name: "Tasks fail",
            when: { kind: "failure_rate", threshold: 10 },
            notify: [{ url: "http://127.0.0.1:9000/alerts" }],
          })}
        >
          An alert notifies you by mail, Slack or a signed request when tasks fail, a queue falls behind, a
          schedule fails or the storage fills up.
        </Empty>
      }
    >
      {opened === "new" ? <AlertDialog onClose={close} /> : null}
      {opened !== null && opened !== "new" && opened.kind === "edit" ? (
        <AlertDialog alert={opened.alert} onClose={close} />
      ) : null}
      {opened !== null && opened !== "new" && opened.kind === "delete" ? (
        <Confirm
          title={`Delete ${opened.alert.name}?`}
          action="Delete it"
          onClose={close}
          onConfirm={() => remove.mutate(opened.alert)}
        >
          <p>Nobody is notified any more. Turning it off can be undone.</p>
        </Confirm>
      ) : null}
    </ListPage>
  );
}

function columnsOf(mayAct: boolean, open: (opened: Opened) => void): readonly Column<Alert>[] {
  return [
    { title: "Name", kind: "main", cell: ({ name }) => <span className="wrap">{name}</span> },
    { title: "State", cell: (alert) => <AlertState alert={alert} /> },
    {
      title: "When",
      cell: ({ when }) => (
        <span className="row loose" style={{ gap: 4 }}>
          {conditionText(when)}
          {when.queue === null ? null : <span className="tag">queue {when.queue}</span>}
        </span>
      ),
    },
    { title: "Now", kind: "num", label: "now", cell: (alert) => valueText(alert) },
    { title: "Notifies", cell: ({ notify }) => <Channels notify={notify} /> },
    { title: "Last fired", at: ({ lastFiredAt }) => lastFiredAt },
    {
      actions: (alert) =>
        mayAct ? (
          <>
            <Test alert={alert} />
            <RowButton onClick={() => open({ kind: "edit", alert })}>Change …</RowButton>
            <Switch alert={alert} />
            <RowButton onClick={() => open({ kind: "delete", alert })}>Delete …</RowButton>
          </>
        ) : null,
    },
  ];
}

function AlertState({ alert: { enabled, state, since } }: { readonly alert: Alert }) {
  if (!enabled) return <span className="tag warn">off</span>;
  const isFiring = state === "firing";
  return (
    <span className="state" style={toneOf(isFiring ? "failed" : "completed")}>
      <StateMark status={isFiring ? "failed" : "completed"} />
      {isFiring ? (
        <span>
          firing for <Ago at={since} bare />
        </span>
      ) : (
        "ok"
      )}
    </span>
  );
}

function Channels({ notify }: Pick<Alert, "notify">) {
  return (
    <span className="small">
      {notify.map((channel) => (
        <span key={targetOf(channel)} className="wrap" style={{ display: "block" }}>
          <span className="muted">{targetOf(channel)}</span>
          {channel.lastError === null ? null : (
            <span style={{ display: "block", color: "var(--failed)" }}>{channel.lastError}</span>
          )}
        </span>
      ))}
    </span>
  );
}

function Test({ alert: { id } }: { readonly alert: Alert }) {
  const test = useAct(
    () => bellhop.alerts.test(id),
    ({ notify }) => `A test message is on its way to ${notify.map(targetOf).join(", ")}`,
  );
  return <RowButton onClick={() => test.mutate(undefined)}>Test</RowButton>;
}

function Switch({ alert: { id, enabled } }: { readonly alert: Alert }) {
  const set = useAct(
    (isOn: boolean) => bellhop.alerts.update(id, { enabled: isOn }),
    (_, isOn) => (isOn ? "On: evaluated once a minute" : "Off: not evaluated"),
  );
  return <RowButton onClick={() => set.mutate(!enabled)}>{enabled ? "Turn off" : "Turn on"}</RowButton>;
}
