import type { NewDirectTask, NewTask } from "@bellhop/sdk";
import { Button, NumberInput, SegmentedControl, Select, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { useQueues } from "../data/queues.ts";
import { curlOfCreation } from "../data/task.ts";
import { Code } from "../parts/copy.tsx";
import { holding } from "../parts/form-dialog.tsx";
import { Page, PageHead, Panel, Problem } from "../parts/page.tsx";
import { bodyOfDraft, type Draft, draftOf, EMPTY, problemOf } from "./new-task/draft.ts";
import { HeaderFields } from "./new-task/header-fields.tsx";

/** Writes a task of either kind, shows the request that it is, and follows it. */
export function NewTaskPage() {
  const { from, queue } = useSearch({ from: "/new" });
  const like = useQuery({
    queryKey: ["task", from],
    queryFn: () => bellhop.tasks.get(from ?? ""),
    enabled: from !== undefined,
  });
  if (from !== undefined && like.error) return <Problem error={like.error} />;
  if (from !== undefined && like.data === undefined) return null;
  const initial = like.data === undefined ? { ...EMPTY, queue: queue ?? EMPTY.queue } : draftOf(like.data);
  return <Writing key={from} initial={initial} />;
}

function Writing({ initial }: { readonly initial: Draft }) {
  const navigate = useNavigate();
  const [draft, setDraft] = useState(initial);
  const queues = useQueues();
  const providers = useQuery({ queryKey: ["providers"], queryFn: () => bellhop.providers.list() });
  const set = (change: Partial<Draft>) => setDraft((current) => ({ ...current, ...change }));
  const isDirect = draft.shape === "direct";
  const wrong = problemOf(draft);
  const body = wrong === null ? bodyOfDraft(draft) : null;
  const send = useAct(
    async () => {
      if (body === null) throw new Error(wrong ?? "");
      // The fields are those of the API; the server tells, field by field, what it does not take.
      return isDirect ? bellhop.tasks.call(body as NewDirectTask) : bellhop.tasks.create(body as NewTask);
    },
    ({ id }) => {
      void navigate({ to: "/tasks/$id", params: { id } });
      return null;
    },
  );
  return (
    <Page title="New task">
      <PageHead title="New task" />
      <div className="two">
        <Panel>
          <form
            className="form"
            onSubmit={(event) => {
              event.preventDefault();
              send.mutate(undefined);
            }}
          >
            <SegmentedControl
              aria-label="Kind of task"
              value={draft.shape}
              onChange={(value) => set({ shape: value === "direct" ? "direct" : "queue" })}
              data={[
                { value: "queue", label: "A job for your own endpoint" },
                { value: "direct", label: "A request to an API" },
              ]}
            />
            <div className="form-row method-row">
              <Select
                label="Method"
                data={["GET", "POST", "PUT", "PATCH", "DELETE"]}
                allowDeselect={false}
                value={draft.method}
                onChange={(method) => set({ method: method ?? "POST" })}
              />
              <TextInput
                label="URL"
                description="npm run bellhop echo answers at http://127.0.0.1:9000"
                inputWrapperOrder={["label", "input", "description"]}
                required
                {...holding(draft.url, (url) => set({ url }))}
              />
            </div>
            <HeaderFields headers={draft.headers} onChange={(headers) => set({ headers })} />
            <Textarea
              label={isDirect ? "Body" : "Payload"}
              description={isDirect ? "JSON, or any text" : "JSON; every number is sent as you write it"}
              autosize
              minRows={5}
              maxRows={20}
              styles={{ input: { fontFamily: "var(--mono)" } }}
              {...holding(draft.body, (text) => set({ body: text }))}
              error={wrong}
            />
            <div className="form-row">
              <Select
                label="Queue"
                searchable
                allowDeselect={false}
                data={(queues.data ?? [{ name: draft.queue }]).map(({ name }) => name)}
                value={draft.queue}
                onChange={(queue) => set({ queue: queue ?? "default" })}
              />
              <NumberInput
                label="Delay in seconds"
                min={0}
                value={draft.delay}
                onChange={(value) => set({ delay: Number(value) || 0 })}
              />
              <NumberInput
                label="Priority"
                min={1}
                max={10}
                value={draft.priority}
                onChange={(value) => set({ priority: Number(value) || 5 })}
              />
            </div>
            <div className="form-row">
              <Select
                label="After a 2xx"
                data={[
                  { value: "", label: "It is completed" },
                  { value: "callback", label: "Wait for a callback" },
                  ...(providers.data ?? []).map(({ id, name }) => ({ value: id, label: `Poll as ${name}` })),
                ]}
                allowDeselect={false}
                value={draft.after}
                onChange={(after) => set({ after: after ?? "" })}
              />
              <TagsInput
                label="Tags"
                maxTags={10}
                value={[...draft.tags]}
                onChange={(tags) => set({ tags })}
              />
            </div>
            {send.error ? <Problem error={send.error} /> : null}
            <div className="row end">
              <Button
                type="submit"
                variant="filled"
                loading={send.isPending}
                disabled={wrong !== null || draft.url === ""}
              >
                Send and follow
              </Button>
            </div>
          </form>
        </Panel>
        <Panel title="As a curl command">
          <Code text={body === null ? "" : curlOfCreation(body, window.location.origin)} />
        </Panel>
      </div>
    </Page>
  );
}
