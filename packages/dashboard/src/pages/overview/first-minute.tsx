import { Button, SegmentedControl } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { useLiveQuery } from "../../data/live.ts";
import { useMay } from "../../data/session.ts";
import { isEnded } from "../../data/status.ts";
import { curlOfCreation } from "../../data/task.ts";
import { Code } from "../../parts/copy.tsx";
import { Panel } from "../../parts/page.tsx";
import { Life } from "../task/life.tsx";

/** Built into every server: no call leaves it. */
const ECHO = "http://echo.bellhop.invalid";

const FIRST = { queue: "default", webhook_url: `${ECHO}/hello`, payload: { user: 42 }, delay: 2 };
const FAILING = {
  queue: "default",
  webhook_url: `${ECHO}/status/503`,
  payload: { user: 42 },
  max_retries: 1,
};

/** Of a server without tasks: the steps to the first one, instead of empty charts. */
export function FirstMinute({ onDone }: { readonly onDone: () => void }) {
  const mayAct = useMay("member");
  const [id, setId] = useState<string | null>(null);
  const send = useAct(
    (task: typeof FIRST | typeof FAILING) => bellhop.tasks.create(asSaid(task)),
    (made) => {
      setId(made.id);
      return null;
    },
  );
  return (
    <div className="stack steps">
      <Panel title="1. Send your first task">
        <div className="stack">
          <p>
            A task is one HTTP call that Bellhop makes for you: later, with retries, and recorded. This one
            goes to <code>{ECHO}</code>, a target that is built into this server and answers with what it was
            sent. Nothing else has to run.
          </p>
          <div className="row loose">
            <Button
              variant="filled"
              disabled={!mayAct}
              loading={send.isPending}
              onClick={() => send.mutate(FIRST)}
            >
              Send it
            </Button>
            <Button disabled={!mayAct || send.isPending} onClick={() => send.mutate(FAILING)}>
              Send one that fails
            </Button>
          </div>
        </div>
      </Panel>
      <Panel title="2. Watch it">
        {id === null ? (
          <p className="muted">It waits for two seconds, is called, and is completed: here, as it happens.</p>
        ) : (
          <Watched id={id} />
        )}
      </Panel>
      <Panel title="3. Do the same from your program">
        <Copies />
      </Panel>
      <Panel title="4. Go on">
        <div className="row loose">
          <Button renderRoot={(props) => <Link to="/keys" {...props} />}>Make an API key</Button>
          <Button renderRoot={(props) => <Link to="/new" {...props} />}>Send a task to your own URL</Button>
          <Button onClick={onDone}>Show the charts</Button>
        </div>
      </Panel>
    </div>
  );
}

function Watched({ id }: { readonly id: string }) {
  const task = useLiveQuery(["task", id], ({ signal }) => bellhop.tasks.get(id, { signal }), {
    everyMs: 500,
  });
  if (task.data === undefined) return null;
  return (
    <div className="stack" role="status">
      <Life task={task.data} />
      {task.data.error === undefined ? null : <p className="wrap">{task.data.error}</p>}
      <Link to="/tasks/$id" params={{ id }} className="link">
        {isEnded(task.data.status) ? "What was sent, and what came back" : "Everything about it"}
      </Link>
    </div>
  );
}

function Copies() {
  const [language, setLanguage] = useState("curl");
  const { origin } = window.location;
  return (
    <div className="stack">
      <SegmentedControl
        aria-label="Language"
        style={{ alignSelf: "flex-start" }}
        value={language}
        onChange={setLanguage}
        data={[
          { value: "curl", label: "curl" },
          { value: "typescript", label: "TypeScript" },
        ]}
      />
      <Code text={language === "curl" ? curlOfCreation(FIRST, origin) : typescriptOf(origin)} />
    </div>
  );
}

/** As the SDK takes it, which writes names like TypeScript does. */
function asSaid({ webhook_url: webhookUrl, ...task }: typeof FIRST | typeof FAILING) {
  const { max_retries: maxRetries, ...others } = { max_retries: undefined, ...task };
  return { ...others, webhookUrl, ...(maxRetries === undefined ? {} : { maxRetries }) };
}

function typescriptOf(origin: string): string {
  return `import { createBellhop } from "@bellhop/sdk";

const bellhop = createBellhop({ url: "${origin}", apiKey: process.env.KEY });
const { id } = await bellhop.tasks.create({
  queue: "default",
  webhookUrl: "${FIRST.webhook_url}",
  payload: { user: 42 },
  delay: 2,
});
const task = await bellhop.tasks.wait(id);
console.log(task.status, task.result?.body);`;
}
