import { Select, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop, pageText } from "../../data/client.ts";
import { parseExact, printExact } from "../../data/exact-json.ts";
import { FormDialog, holding } from "../../parts/form-dialog.tsx";

interface Draft {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly overlap: "allow" | "skip";
  readonly catchUp: "one" | "none";
  readonly task: string;
}

const EMPTY: Draft = {
  name: "",
  cron: "0 3 * * *",
  timezone: "UTC",
  overlap: "allow",
  catchUp: "one",
  task: printExact({ queue: "default", webhook_url: "http://127.0.0.1:9000/nightly", payload: {} }),
};

/** Makes a schedule, or changes one. */
export function ScheduleDialog({ id, onClose }: { readonly id?: string; readonly onClose: () => void }) {
  const known = useQuery({
    queryKey: ["schedule-text", id],
    queryFn: async () => draftOf(await pageText(`/v1/schedules/${encodeURIComponent(id ?? "")}`)),
    enabled: id !== undefined,
    gcTime: 0,
  });
  if (id !== undefined && known.data === undefined) return null;
  return <Fields {...(id === undefined ? {} : { id })} initial={known.data ?? EMPTY} onClose={onClose} />;
}

/** From the text, so that the task in it stays in the words of its own kind. */
function draftOf(text: string): Draft {
  const { schedule } = parseExact(text) as { schedule: Record<string, string> & { task: unknown } };
  return {
    name: schedule.name ?? "",
    cron: schedule.cron ?? "",
    timezone: schedule.timezone ?? "UTC",
    overlap: schedule.overlap === "skip" ? "skip" : "allow",
    catchUp: schedule.catch_up === "none" ? "none" : "one",
    task: printExact(schedule.task),
  };
}

function Fields({
  id,
  initial,
  onClose,
}: {
  readonly id?: string;
  readonly initial: Draft;
  readonly onClose: () => void;
}) {
  const [draft, setDraft] = useState(initial);
  const set = (change: Partial<Draft>) => setDraft((current) => ({ ...current, ...change }));
  const task = parsed(draft.task);
  const save = useAct(
    () => {
      if (task === null) throw new Error("The task is not a JSON object");
      const { name, cron, timezone, overlap, catchUp } = draft;
      const body = { cron, timezone, overlap, catchUp };
      if (id === undefined) return bellhop.schedules.create({ name, ...body, task });
      // Left out unless it was changed: what stands in the field may have hashes in place of redacted values.
      return bellhop.schedules.update(id, { ...body, ...(draft.task !== initial.task && { task }) });
    },
    ({ name }) => `Saved ${name}`,
  );
  return (
    <FormDialog
      title={id === undefined ? "New schedule" : `Change ${initial.name}`}
      action={id === undefined ? "Create" : "Save"}
      save={save}
      onClose={onClose}
      size="lg"
    >
      {id === undefined ? (
        <TextInput label="Name" required data-autofocus {...holding(draft.name, (name) => set({ name }))} />
      ) : null}
      <div className="form-row">
        <TextInput
          label="Cron"
          description="Minute, hour, day, month, weekday"
          required
          {...holding(draft.cron, (cron) => set({ cron }))}
        />
        <Select
          label="Time zone"
          description="Time zone of the cron expression"
          searchable
          allowDeselect={false}
          data={zones(draft.timezone)}
          value={draft.timezone}
          onChange={(timezone) => set({ timezone: timezone ?? "UTC" })}
        />
      </div>
      <div className="form-row">
        <Select
          label="If the previous task has not ended"
          allowDeselect={false}
          data={[
            { value: "allow", label: "Make another" },
            { value: "skip", label: "Skip this time" },
          ]}
          value={draft.overlap}
          onChange={(value) => set({ overlap: value === "skip" ? "skip" : "allow" })}
        />
        <Select
          label="Times missed while no node ran"
          allowDeselect={false}
          data={[
            { value: "one", label: "Make one task for them" },
            { value: "none", label: "Skip them" },
          ]}
          value={draft.catchUp}
          onChange={(value) => set({ catchUp: value === "none" ? "none" : "one" })}
        />
      </div>
      <Textarea
        label="Task"
        description="As POST /v1/tasks takes it"
        autosize
        minRows={6}
        maxRows={18}
        styles={{ input: { fontFamily: "var(--mono)" } }}
        error={task === null ? "This is not a JSON object" : null}
        {...holding(draft.task, (text) => set({ task: text }))}
      />
    </FormDialog>
  );
}

function zones(current: string): string[] {
  return [...new Set(["UTC", current, ...Intl.supportedValuesOf("timeZone")])];
}

type ScheduleTask = Parameters<typeof bellhop.schedules.create>[0]["task"];

/** Any object: what is wrong with it, the server knows best. */
function parsed(text: string): ScheduleTask | null {
  try {
    const value = parseExact(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as ScheduleTask)
      : null;
  } catch {
    return null;
  }
}
