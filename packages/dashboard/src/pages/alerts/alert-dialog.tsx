import { NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { ALERT_KINDS, type Alert, type AlertKind, KIND_TEXTS } from "../../data/alerts.ts";
import { bellhop } from "../../data/client.ts";
import { useQueues } from "../../data/queues.ts";
import { FormDialog, holding } from "../../parts/form-dialog.tsx";
import { type ChannelDraft, ChannelFields, draftsOf, givenOf } from "./channel-fields.tsx";

interface Draft {
  readonly name: string;
  readonly kind: AlertKind;
  readonly queue: string | null;
  readonly threshold: number | string;
  readonly within: number | string;
  readonly held: number | string;
  readonly channels: readonly ChannelDraft[];
}

const EMPTY: Draft = {
  name: "",
  kind: "failure_rate",
  queue: null,
  threshold: 10,
  within: 300,
  held: 0,
  channels: draftsOf([]),
};

/** Creates an alert, or changes one. */
export function AlertDialog({ alert, onClose }: { readonly alert?: Alert; readonly onClose: () => void }) {
  const [draft, setDraft] = useState(alert === undefined ? EMPTY : draftOf(alert));
  const set = (change: Partial<Draft>) => setDraft((current) => ({ ...current, ...change }));
  const queues = useQueues();
  const { threshold, hasQueue } = KIND_TEXTS[draft.kind];
  const save = useAct(
    () => {
      const body = { name: draft.name, when: conditionOf(draft), notify: givenOf(draft.channels) };
      return alert === undefined ? bellhop.alerts.create(body) : bellhop.alerts.update(alert.id, body);
    },
    ({ name }) => `Saved ${name}`,
  );
  return (
    <FormDialog
      title={alert === undefined ? "New alert" : `Change ${alert.name}`}
      action={alert === undefined ? "Create" : "Save"}
      save={save}
      onClose={onClose}
      size="lg"
    >
      <TextInput label="Name" required data-autofocus {...holding(draft.name, (name) => set({ name }))} />
      <div className="form-row">
        <Select
          label="Watch"
          allowDeselect={false}
          data={ALERT_KINDS.map((value) => ({ value, label: KIND_TEXTS[value].title }))}
          value={draft.kind}
          onChange={(value) => {
            const kind = ALERT_KINDS.find((each) => each === value);
            if (kind !== undefined) set({ kind });
          }}
        />
        {hasQueue ? (
          <Select
            label="Only of this queue"
            placeholder="All queues"
            clearable
            searchable
            data={(queues.data ?? []).map(({ name }) => name)}
            value={draft.queue}
            onChange={(queue) => set({ queue })}
          />
        ) : null}
      </div>
      <div className="form-row">
        {threshold === null ? null : (
          <NumberInput
            label={`${threshold}, at least`}
            required
            min={0}
            value={draft.threshold}
            onChange={(value) => set({ threshold: value })}
          />
        )}
        {draft.kind === "failure_rate" ? (
          <NumberInput
            label="Within seconds"
            min={60}
            max={3600}
            value={draft.within}
            onChange={(within) => set({ within })}
          />
        ) : null}
        <NumberInput
          label="Held for seconds"
          min={0}
          max={86_400}
          value={draft.held}
          onChange={(held) => set({ held })}
        />
      </div>
      <ChannelFields channels={draft.channels} onChange={(channels) => set({ channels })} />
    </FormDialog>
  );
}

function conditionOf({ kind, queue, threshold, within, held }: Draft) {
  const texts = KIND_TEXTS[kind];
  return {
    kind,
    ...(texts.hasQueue && queue !== null && { queue }),
    ...(texts.threshold !== null && threshold !== "" && { threshold: Number(threshold) }),
    ...(kind === "failure_rate" && within !== "" && { within: Number(within) }),
    ...(held !== "" && { for: Number(held) }),
  };
}

function draftOf({ name, when, notify }: Alert): Draft {
  const { kind, queue, threshold, within, for: held } = when;
  return {
    name,
    kind,
    queue,
    threshold: threshold ?? "",
    within: within ?? EMPTY.within,
    held,
    channels: draftsOf(notify),
  };
}
