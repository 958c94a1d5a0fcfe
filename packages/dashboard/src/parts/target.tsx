import type { Task, TaskSummary } from "@bellhop/sdk";
import { splitUrl, urlOf } from "../data/task.ts";

/** Host and path; the method where it is not the usual one. */
export function Target({ task }: { readonly task: TaskSummary | Task }) {
  const url = urlOf(task);
  const [host, path] = splitUrl(url);
  return (
    <span className="clip" title={`${task.method} ${url}`}>
      {task.method === "POST" ? null : <span className="muted">{task.method} </span>}
      {host}
      <span className="muted">{path}</span>
    </span>
  );
}

/** A status code, said by colour and figure. */
export function ResponseCode({ code }: { readonly code: number | null | undefined }) {
  if (code === null || code === undefined) return <span className="muted">–</span>;
  const isGood = code >= 200 && code < 300;
  return (
    <span className="num" style={{ color: isGood ? "var(--completed)" : "var(--failed)" }}>
      {code}
    </span>
  );
}
