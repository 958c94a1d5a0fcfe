import { Button, TextInput } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { curl } from "../data/examples.ts";
import { type Flow, limitsText, type Sample, useFlows, usePauseFlow, useSamples } from "../data/flows.ts";
import { useMay } from "../data/session.ts";
import { Confirm } from "../parts/confirm.tsx";
import { holding } from "../parts/form-dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { List } from "../parts/list-page.tsx";
import { Count } from "../parts/numbers.tsx";
import { Empty, Page, PageHead } from "../parts/page.tsx";
import { RowButton } from "../parts/row-button.tsx";
import type { Column } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { FlowChart } from "./flows/flow-chart.tsx";
import { FlowDialog } from "./flows/flow-dialog.tsx";

type Opened = { readonly kind: "edit" | "remove"; readonly flow: Flow } | "new" | null;

/** Limits by key, and what their tasks are doing. */
export function Flows() {
  const mayAct = useMay("member");
  const { search = "" } = useSearch({ strict: false });
  const navigate = useNavigate();
  const flows = useFlows(search);
  const samples = useSamples(flows.data, flows.dataUpdatedAt);
  const [opened, open] = useState<Opened>(null);
  const close = () => open(null);
  const remove = useAct(
    ({ key }: Flow) => bellhop.flows.delete(key),
    (_, { key }) => `Removed the stored limits of ${key}`,
  );
  return (
    <Page title="Flows">
      <PageHead title="Flows">
        <TextInput
          aria-label="Search keys"
          placeholder="Search keys"
          {...holding(search, (text) => navigate({ to: "/flows", search: { search: text }, replace: true }))}
        />
        {mayAct ? (
          <Button variant="filled" leftSection={<Icon name="plus" size={14} />} onClick={() => open("new")}>
            Set limits
          </Button>
        ) : null}
      </PageHead>
      <section className="panel">
        <List
          query={flows}
          keyOf={({ key }) => key}
          columns={columnsOf(mayAct, samples, open)}
          empty={search === "" ? <NoFlows /> : "No key contains this text"}
        />
      </section>
      {opened === "new" ? <FlowDialog onClose={close} /> : null}
      {opened !== null && opened !== "new" && opened.kind === "edit" ? (
        <FlowDialog flow={opened.flow} onClose={close} />
      ) : null}
      {opened !== null && opened !== "new" && opened.kind === "remove" ? (
        <Confirm
          title={`Remove the stored limits of ${opened.flow.key}?`}
          action="Remove them"
          onClose={close}
          onConfirm={() => remove.mutate(opened.flow)}
        >
          <p>
            The limits that its tasks carry hold again; without any, nothing limits its calls. A pause stays.
          </p>
        </Confirm>
      ) : null}
    </Page>
  );
}

function NoFlows() {
  return (
    <Empty
      title="No flows yet"
      code={curl("POST", "/v1/tasks", {
        targetUrl: "https://api.example.com/jobs",
        flow: { key: "customer-42", concurrency: 5, rate: 100, period: 60 },
      })}
    >
      A flow limits calls by a key, over all queues and nodes: how many at once, and how many in a period.
      Tasks name it, or its limits are stored here.
    </Empty>
  );
}

function columnsOf(
  mayAct: boolean,
  samples: ReadonlyMap<string, readonly Sample[]>,
  open: (opened: Opened) => void,
): readonly Column<Flow>[] {
  return [
    {
      title: "Flow",
      kind: "main",
      sort: ({ key }) => key,
      cell: (flow) => (
        <span className="row loose" style={{ gap: 6 }}>
          <span className="wrap">{flow.key}</span>
          <Paused flow={flow} />
        </span>
      ),
    },
    {
      title: "Limit",
      cell: (flow) => (
        <span className="row loose" style={{ gap: 6 }}>
          {limitsText(flow)}
          {hasStored(flow) ? <span className="tag">stored</span> : null}
        </span>
      ),
    },
    {
      title: "Active",
      kind: "num",
      label: "active",
      sort: ({ active }) => active,
      cell: ({ active, concurrency }) => <Used of={active} limit={concurrency} />,
    },
    {
      title: "Waiting",
      kind: "num",
      label: "waiting",
      sort: ({ waiting }) => waiting,
      cell: ({ waiting }) => <Count of={waiting} />,
    },
    {
      title: "Begun in period",
      kind: "num",
      label: "begun in period",
      sort: ({ begunInPeriod }) => begunInPeriod,
      cell: ({ begunInPeriod, rate }) =>
        rate === null ? <span className="muted">–</span> : <Used of={begunInPeriod} limit={rate} />,
    },
    {
      title: "Last two minutes",
      kind: "desk",
      cell: ({ key }) => <FlowChart flow={key} samples={samples.get(key) ?? []} />,
    },
    {
      actions: (flow) =>
        mayAct ? (
          <>
            <PauseButton flow={flow} />
            <RowButton onClick={() => open({ kind: "edit", flow })}>Set …</RowButton>
            {hasStored(flow) ? (
              <RowButton onClick={() => open({ kind: "remove", flow })}>Remove …</RowButton>
            ) : null}
          </>
        ) : null,
    },
  ];
}

function hasStored({ source }: Flow): boolean {
  return Object.values(source).includes("stored");
}

function Used({ of, limit }: { readonly of: number; readonly limit: number | null }) {
  return (
    <span style={limit !== null && of >= limit ? { color: "var(--waiting)" } : undefined}>
      <Count of={of} />
      {limit === null ? null : (
        <span className="muted">
          {" "}
          of <Count of={limit} />
        </span>
      )}
    </span>
  );
}

function Paused({ flow: { paused, pausedUntil } }: { readonly flow: Flow }) {
  if (!paused) return null;
  return (
    <span className="tag warn">
      paused
      {pausedUntil === null ? null : (
        <>
          {" "}
          until <Ago at={pausedUntil} bare />
        </>
      )}
    </span>
  );
}

function PauseButton({ flow: { key, paused } }: { readonly flow: Flow }) {
  const pause = usePauseFlow();
  return (
    <RowButton onClick={() => pause.mutate({ key, isPaused: !paused })}>
      {paused ? "Resume" : "Pause"}
    </RowButton>
  );
}
