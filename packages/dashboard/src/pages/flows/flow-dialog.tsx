import { NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import type { Flow } from "../../data/flows.ts";
import { FormDialog, holding } from "../../parts/form-dialog.tsx";
import { type Order, StrictOrder } from "../../parts/strict-order.tsx";

type Figure = number | string;

interface Draft extends Order {
  readonly concurrency: Figure;
  readonly rate: Figure;
  readonly period: Figure;
  readonly hold: Flow["hold"];
  readonly maxWaiting: Figure;
}

const EMPTY: Draft = {
  concurrency: "",
  rate: "",
  period: 1,
  ordered: false,
  onFailure: "continue",
  hold: "call",
  maxWaiting: "",
};

/** Stores the limits of a key. An empty field stores no figure: then the one that tasks carry holds. */
export function FlowDialog({ flow, onClose }: { readonly flow?: Flow; readonly onClose: () => void }) {
  const [key, setKey] = useState("");
  const [draft, setDraft] = useState(flow === undefined ? EMPTY : draftOf(flow));
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const save = useAct(
    () => bellhop.flows.put(flow?.key ?? key, limitsOf(draft, flow)),
    (saved) => `Saved ${saved.key}: it applies at once`,
  );
  const figure = (field: "concurrency" | "rate" | "period" | "maxWaiting") => ({
    value: draft[field],
    onChange: (value: Figure) => set({ [field]: value }),
    allowDecimal: false,
    allowNegative: false,
  });
  return (
    <FormDialog
      title={flow === undefined ? "Set limits" : `Limits of ${flow.key}`}
      action="Save"
      save={save}
      onClose={onClose}
    >
      {flow === undefined ? (
        <TextInput
          label="Key"
          description="As tasks have it in `flow`; host:api.example.com is the host of $host"
          required
          data-autofocus
          {...holding(key, setKey)}
        />
      ) : null}
      <NumberInput
        label="Calls at once"
        description="Over all queues and nodes; empty: as its tasks say"
        placeholder={carried(flow, "concurrency")}
        min={1}
        max={1000}
        disabled={draft.ordered}
        {...figure("concurrency")}
      />
      <div className="form-row">
        <NumberInput
          label="Calls begun"
          description="At most; empty: as its tasks say"
          placeholder={carried(flow, "rate")}
          min={1}
          max={100_000}
          {...figure("rate")}
        />
        <NumberInput
          label="In so many seconds"
          description="Any stretch of this length"
          suffix=" s"
          min={1}
          max={604_800}
          {...figure("period")}
        />
      </div>
      <div className="form-row">
        <Select
          label="A place is held"
          description="Of the calls at once"
          data={[
            { value: "call", label: "during the call" },
            { value: "task", label: "until the task has ended" },
          ]}
          allowDeselect={false}
          value={draft.hold}
          onChange={(value) => set({ hold: value === "task" ? "task" : "call" })}
        />
        <NumberInput
          label="Most waiting tasks"
          description="Beyond, new ones are refused"
          min={1}
          {...figure("maxWaiting")}
        />
      </div>
      <StrictOrder
        value={draft}
        onChange={(order) => set({ ...order, ...(order.ordered && { concurrency: "" }) })}
      />
    </FormDialog>
  );
}

/** The figure that holds while none is stored. */
function carried(flow: Flow | undefined, figure: "concurrency" | "rate"): string {
  const value = flow?.source[figure] === "stored" ? null : (flow?.[figure] ?? null);
  if (value === null) return "no limit";
  return figure === "rate" ? `${value} in ${flow?.period ?? 1} s` : String(value);
}

/** Figures that tasks carry stay theirs. */
function draftOf({ concurrency, rate, period, ordered, onFailure, hold, maxWaiting, source }: Flow): Draft {
  const isStored = source.rate === "stored";
  return {
    concurrency: source.concurrency === "stored" && !ordered ? (concurrency ?? "") : "",
    ordered,
    onFailure,
    rate: isStored ? (rate ?? "") : "",
    period: isStored ? (period ?? 1) : 1,
    hold,
    maxWaiting: maxWaiting ?? "",
  };
}

function limitsOf(draft: Draft, flow: Flow | undefined) {
  const { concurrency, rate, period, ordered, onFailure, hold, maxWaiting } = draft;
  // An order that tasks carry stays theirs, unless the form says otherwise.
  const isOrderStored = ordered !== (flow?.source.ordered === "task" && flow.ordered);
  return {
    ...((isOrderStored || onFailure === "block") && { ordered }),
    ...(onFailure === "block" && { onFailure }),
    ...(concurrency !== "" && { concurrency: Number(concurrency) }),
    ...(rate !== "" && { rate: Number(rate), period: period === "" ? 1 : Number(period) }),
    ...(hold !== "call" && { hold }),
    ...(maxWaiting !== "" && { maxWaiting: Number(maxWaiting) }),
    // The form does not ask for it, and saving replaces what was stored.
    ...(flow !== undefined &&
      flow.pauseOnRetryAfter !== pausesByDefault(flow.key) && {
        pauseOnRetryAfter: flow.pauseOnRetryAfter,
      }),
  };
}

function pausesByDefault(key: string): boolean {
  return key.startsWith("host:") || key.startsWith("token:");
}
