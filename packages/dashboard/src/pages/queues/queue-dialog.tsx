import { NumberInput, Select, Switch, TagsInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import type { Queue } from "../../data/queues.ts";
import { FormDialog, holding } from "../../parts/form-dialog.tsx";
import { StrictOrder } from "../../parts/strict-order.tsx";

const DEFAULTS = {
  concurrency: 5,
  maxRetries: 3,
  retryBackoff: "exponential" as "exponential" | "fixed",
  retryDelay: 1,
  retryMaxDelay: 3600,
  timeout: 30,
  noRetryStatuses: [] as number[],
  ordered: false,
  onFailure: "continue" as "continue" | "block",
  rate: false as number | false,
  ratePeriod: null as number | null,
  breaker: false as Queue["breaker"] | true,
};

/** Makes a queue, or changes the settings of one. */
export function QueueDialog({ queue, onClose }: { readonly queue?: Queue; readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [settings, setSettings] = useState(() => (queue === undefined ? DEFAULTS : settingsOf(queue)));
  const save = useAct(
    async () => {
      const { ratePeriod, ...others } = settings;
      const sent = ratePeriod === null ? others : { ...others, ratePeriod };
      if (queue === undefined) await bellhop.queues.create({ name, ...sent });
      else await bellhop.queues.update(queue.name, sent);
    },
    () => (queue === undefined ? `Created ${name}` : "Saved: it applies to new tasks"),
  );
  const set = (change: Partial<typeof settings>) => setSettings({ ...settings, ...change });
  const number = (field: "concurrency" | "maxRetries" | "retryDelay" | "retryMaxDelay" | "timeout") => ({
    value: settings[field],
    onChange: (value: string | number) => set({ [field]: Number(value) }),
    allowDecimal: false,
    allowNegative: false,
  });
  return (
    <FormDialog
      title={queue === undefined ? "New queue" : `Settings of ${queue.name}`}
      action={queue === undefined ? "Create" : "Save"}
      save={save}
      onClose={onClose}
    >
      {queue === undefined ? (
        <TextInput
          label="Name"
          description="Letters, digits and hyphens; it cannot be changed"
          required
          data-autofocus
          {...holding(name, setName)}
        />
      ) : (
        <p className="small muted">
          Concurrency, rate, order and circuit breaker hold at once. The other settings apply to tasks that
          are created from now on: each task has copied its own.
        </p>
      )}
      <div className="form-row">
        <NumberInput
          label="Concurrency"
          description="Calls at once, over all nodes"
          min={1}
          max={1000}
          disabled={settings.ordered}
          {...number("concurrency")}
        />
        <NumberInput
          label="Timeout"
          description="Of a call"
          suffix=" s"
          min={1}
          max={3600}
          {...number("timeout")}
        />
      </div>
      <div className="form-row">
        <NumberInput
          label="Rate"
          description="Calls that may begin in a period"
          placeholder="none"
          min={1}
          max={100_000}
          allowDecimal={false}
          allowNegative={false}
          value={settings.rate || ""}
          onChange={(value) =>
            set(
              value === ""
                ? { rate: false, ratePeriod: null }
                : { rate: Number(value), ratePeriod: settings.ratePeriod ?? 1 },
            )
          }
        />
        <NumberInput
          label="Period"
          description="Of the rate"
          suffix=" s"
          min={1}
          max={604_800}
          disabled={settings.rate === false}
          allowDecimal={false}
          allowNegative={false}
          value={settings.ratePeriod ?? ""}
          onChange={(value) => set({ ratePeriod: Number(value) })}
        />
      </div>
      <div className="form-row">
        <NumberInput label="Retries" min={0} max={100} {...number("maxRetries")} />
        <Select
          label="Backoff"
          data={["exponential", "fixed"]}
          allowDeselect={false}
          value={settings.retryBackoff}
          onChange={(value) => set({ retryBackoff: value === "fixed" ? "fixed" : "exponential" })}
        />
      </div>
      <div className="form-row">
        <NumberInput label="First retry after" suffix=" s" min={0} max={3600} {...number("retryDelay")} />
        <NumberInput label="At most" suffix=" s" min={1} max={86_400} {...number("retryMaxDelay")} />
      </div>
      <StrictOrder
        value={settings}
        onChange={(order) => set({ ...order, ...(order.ordered && { concurrency: 1 }) })}
      />
      <Switch
        label="Circuit breaker"
        description="While a host fails, tasks to it wait instead of losing attempts"
        checked={settings.breaker !== false}
        onChange={({ currentTarget: { checked } }) => set({ breaker: checked })}
      />
      <TagsInput
        label="Statuses that are not retried"
        placeholder="400, 404 …"
        value={settings.noRetryStatuses.map(String)}
        onChange={(values) =>
          set({ noRetryStatuses: values.map(Number).filter((status) => status >= 100 && status < 600) })
        }
      />
    </FormDialog>
  );
}

function settingsOf(queue: Queue): typeof DEFAULTS {
  const { concurrency, maxRetries, retryBackoff, retryDelay, retryMaxDelay, timeout } = queue;
  const { noRetryStatuses, ordered, onFailure, rate, ratePeriod, breaker } = queue;
  const retry = { maxRetries, retryBackoff, retryDelay, retryMaxDelay, noRetryStatuses };
  return { concurrency, ...retry, timeout, ordered, onFailure, rate, ratePeriod, breaker };
}
