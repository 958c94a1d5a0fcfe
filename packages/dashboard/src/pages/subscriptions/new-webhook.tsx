import type { BodyOf } from "@bellhop/sdk";
import { MultiSelect, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { useQueues } from "../../data/queues.ts";
import { FormDialog, holding } from "../../parts/form-dialog.tsx";

type EventName = BodyOf<"createWebhook">["events"][number];

const EVENTS: readonly EventName[] = [
  "task.created",
  "task.started",
  "task.attempt_failed",
  "task.waiting",
  "task.polling",
  "task.completed",
  "task.failed",
  "task.cancelled",
  "queue.created",
  "queue.changed",
  "queue.paused",
  "queue.resumed",
  "queue.deleted",
];

export function NewWebhook({ onClose }: { readonly onClose: () => void }) {
  const [url, setUrl] = useState("");
  const [events, setEvents] = useState<readonly EventName[]>(["task.failed"]);
  const [queue, setQueue] = useState<string | null>(null);
  const [tag, setTag] = useState("");
  const queues = useQueues();
  const save = useAct(
    () =>
      bellhop.webhooks.create({
        url,
        events: [...events],
        ...(queue === null ? {} : { queue }),
        ...(tag === "" ? {} : { tag }),
      }),
    () => "Subscribed",
  );
  return (
    <FormDialog title="Subscribe to events" action="Subscribe" save={save} onClose={onClose}>
      <TextInput
        label="URL"
        placeholder="https://example.com/events"
        required
        data-autofocus
        {...holding(url, setUrl)}
      />
      <MultiSelect
        label="Events"
        data={EVENTS}
        value={[...events]}
        onChange={(values) => setEvents(EVENTS.filter((name) => values.includes(name)))}
      />
      <div className="form-row">
        <Select
          label="Only of this queue"
          clearable
          searchable
          data={(queues.data ?? []).map(({ name }) => name)}
          value={queue}
          onChange={setQueue}
        />
        <TextInput label="Only with this tag" {...holding(tag, setTag)} />
      </div>
    </FormDialog>
  );
}
