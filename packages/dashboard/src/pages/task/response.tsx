import type { Task } from "@bellhop/sdk";
import { formatBytes } from "../../data/format.ts";
import { Copy } from "../../parts/copy.tsx";
import { Panel } from "../../parts/page.tsx";
import { ResponseCode } from "../../parts/target.tsx";
import { Duration } from "../../parts/time.tsx";
import { Body } from "./body.tsx";

/** The answer that ended it, or the last one that there is. */
export function ResponsePanel({ task }: { readonly task: Task }) {
  const { result } = task;
  if (result === undefined) {
    return (
      <Panel title="Response">
        <p className="muted">{emptyText(task)}</p>
      </Panel>
    );
  }
  return (
    <Panel title="Response" actions={<Copy text={result.body} label="Body" />}>
      <div className="stack">
        <p className="row loose">
          <strong>
            <ResponseCode code={result.statusCode} />
          </strong>
          <span className="muted">
            in <Duration ms={result.duration} /> · {formatBytes(new TextEncoder().encode(result.body).length)}
          </span>
          {result.truncated === true ? <span className="tag warn">cut</span> : null}
        </p>
        <dl className="headers">
          {Object.entries(result.headers).map(([name, value]) => (
            <div key={name} className="cells">
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        {result.body === "" ? <p className="muted">Empty body</p> : <Body text={result.body} />}
      </div>
    </Panel>
  );
}

function emptyText(task: Task): string {
  if (task.status === "waiting") return "It waits for its callback, whose body becomes its result.";
  if (task.status === "polling") return "The third party’s job is running. The last poll gives its result.";
  if (task.status === "cancelled") return "It was cancelled: there is no answer.";
  return task.status === "failed" ? "No answer came." : "No answer yet.";
}
