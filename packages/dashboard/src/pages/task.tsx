import type { Task } from "@bellhop/sdk";
import { useParams } from "@tanstack/react-router";
import { bellhop } from "../data/client.ts";
import { useLiveQuery } from "../data/live.ts";
import { isEnded } from "../data/status.ts";
import { urlOf } from "../data/task.ts";
import { Id } from "../parts/copy.tsx";
import { Page, PageHead, Panel, Problem, Skeletons } from "../parts/page.tsx";
import { State, toneOf } from "../parts/state.tsx";
import { Ago } from "../parts/time.tsx";
import { TaskActions } from "./task/actions.tsx";
import { adviceOn } from "./task/advice.ts";
import { Attempts } from "./task/attempts.tsx";
import { Details, RawRecord } from "./task/details.tsx";
import { Life } from "./task/life.tsx";
import { Reason } from "./task/reason.tsx";
import { RequestPanel } from "./task/request.tsx";
import { ResponsePanel } from "./task/response.tsx";

export function TaskPage() {
  const { id } = useParams({ from: "/tasks/$id" });
  const query = useLiveQuery(["task", id], ({ signal }) => bellhop.tasks.get(id, { signal }), {
    everyMs: 1000,
  });
  const task = query.data?.id === id || query.data === undefined ? query.data : undefined;
  return (
    <Page title={task === undefined ? "Task" : `${task.status} · ${urlOf(task)}`}>
      {task !== undefined ? (
        <Loaded task={task} />
      ) : query.error ? (
        <Problem error={query.error} />
      ) : (
        <Skeletons rows={8} height={40} />
      )}
    </Page>
  );
}

function Loaded({ task }: { readonly task: Task }) {
  return (
    <>
      <PageHead
        title={
          <span className="row">
            <State status={task.status} />
            <span className="clip" title={urlOf(task)}>
              {task.method} {urlOf(task)}
            </span>
          </span>
        }
      >
        <TaskActions task={task} />
      </PageHead>
      <div className="row loose muted small">
        <Id id={task.id} />
        {task.sandbox === true ? <span className="tag warn">sandbox: never executed</span> : null}
        {(task.tags ?? []).map((tag) => (
          <span key={tag} className="tag">
            {tag}
          </span>
        ))}
      </div>
      <Panel>
        <Life task={task} />
      </Panel>
      {isEnded(task.status) ? null : <Why id={task.id} flow={task.flow ?? null} />}
      {task.error === undefined ? null : (
        <div className="note" style={toneOf("failed")}>
          <strong className="wrap">{task.error}</strong>
          <p className="muted">{adviceOn(task)}</p>
        </div>
      )}
      <Panel title={`Attempts (${task.attempts.length} of at most ${1 + task.maxRetries})`}>
        <Attempts task={task} />
      </Panel>
      <div className="two">
        <RequestPanel task={task} />
        <ResponsePanel task={task} />
      </div>
      <Details task={task} />
      <RawRecord id={task.id} />
    </>
  );
}

/** What stands in its way at this moment, as the server explains it. */
function Why({ id, flow }: { readonly id: string; readonly flow: string | null }) {
  const query = useLiveQuery(["explain", id], ({ signal }) => bellhop.tasks.explain(id, { signal }));
  const reasons = query.data?.reasons ?? [];
  if (query.data === undefined) return null;
  return (
    <div className="note" style={toneOf("pending")}>
      <strong>{query.data.runnable ? "It can run" : "Why it has not ended"}</strong>
      {query.data.runnable ? <p className="muted">The next free node starts it.</p> : null}
      <ul>
        {reasons.map((reason) => (
          <Reason key={reason.code} reason={reason} flow={flow} />
        ))}
      </ul>
      {query.data.startsAbout === null || query.data.runnable ? null : (
        <p className="muted">
          It starts about <Ago at={query.data.startsAbout} />.
        </p>
      )}
    </div>
  );
}
