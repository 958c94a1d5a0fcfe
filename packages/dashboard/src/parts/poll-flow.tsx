import type { Task } from "@bellhop/sdk";
import { formatDuration } from "../data/format.ts";

type PollConfig = NonNullable<Task["pollConfig"]>;

/** A configuration drawn as what happens: call, poll, done or failed. */
export function PollFlow({ config }: { readonly config: PollConfig }) {
  return (
    <ol className="flow">
      <li>
        <strong>Call</strong>
        <span className="muted">the task’s own request; a 2xx goes on</span>
      </li>
      <li>
        <strong>Poll every {formatDuration(config.interval * 1000)}</strong>
        <code className="wrap">{config.urlTemplate}</code>
        <span className="muted">
          {config.forwardAuth ? "with the call’s credential" : "without a credential"}, for{" "}
          {formatDuration(config.maxDuration * 1000)} at most
        </span>
      </li>
      <li>
        <strong>
          Look at <code>{config.statusPath}</code>
        </strong>
        <span>
          <span style={{ color: "var(--completed)" }}>✓ {config.doneValues.join(", ")}</span>
        </span>
        <span>
          <span style={{ color: "var(--failed)" }}>✕ {config.failValues.join(", ") || "none"}</span>
        </span>
        <span className="muted">anything else: poll again</span>
      </li>
      <li>
        <strong>Result</strong>
        {config.resultUrlTemplate === undefined ? null : (
          <code className="wrap">{config.resultUrlTemplate}</code>
        )}
        <span className="muted">
          {config.resultPath === "" ? "the whole answer" : `what is at ${config.resultPath}`}
        </span>
      </li>
    </ol>
  );
}
