import type { BodyOf } from "@bellhop/sdk";
import { MultiSelect, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { completeList } from "../../data/complete-list.ts";
import { useQueues } from "../../data/queues.ts";
import { FormDialog, holding } from "../../parts/form-dialog.tsx";

type EventName = BodyOf<"createWebhook">["events"][number];

const EVENTS = completeList<EventName>({
  "task.created": true,
  "task.replaced": true,
  "task.started": true,
  "task.attempt_failed": true,
  "task.waiting": true,
  "task.polling": true,
  "task.completed": true,
  "task.failed": true,
  "task.cancelled": true,
  "queue.created": true,
  "queue.changed": true,
  "queue.paused": true,
  "queue.resumed": true,
  "queue.deleted": true,
  "target.down": true,
  "target.up": true,
});

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
