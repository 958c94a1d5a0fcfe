import type { Task } from "@bellhop/sdk";
import { Link } from "@tanstack/react-router";
import { addedHeaders, bodyOf, urlOf } from "../../data/task.ts";
import { Copy } from "../../parts/copy.tsx";
import { Panel } from "../../parts/page.tsx";
import { Body } from "./body.tsx";

/** The call as it is sent: vault tokens by their names, which is all that is stored of them here. */
export function RequestPanel({ task }: { readonly task: Task }) {
  const body = bodyOf(task);
  const added = addedHeaders(task, task.attempts.at(-1)?.number ?? null);
  return (
    <Panel title="Request" actions={<Copy text={urlOf(task)} label="URL" />}>
      <div className="stack">
        <p className="mono wrap">
          <strong>{task.method}</strong> {urlOf(task)}
        </p>
        <dl className="headers">
          {Object.entries(task.headers).map(([name, value]) => (
            <Header key={name} name={name} value={value} />
          ))}
          {added.map(([name, value]) => (
            <Header key={name} name={name} value={value} isAdded />
          ))}
        </dl>
        {body === null ? <p className="muted">No body</p> : <Body text={body} />}
      </div>
    </Panel>
  );
}

function Header({
  name,
  value,
  isAdded = false,
}: {
  readonly name: string;
  readonly value: string;
  readonly isAdded?: boolean;
}) {
  const isToken = !isAdded && value.startsWith("tok_");
  return (
    <>
      <dt>{name}</dt>
      <dd className={isAdded ? "muted" : undefined} title={isAdded ? "Added by Bellhop" : undefined}>
        {isToken ? (
          <Link
            to="/vault"
            className="link"
            title="A vault token: its value is inserted when the call is made"
          >
            {value}
          </Link>
        ) : (
          value
        )}
      </dd>
    </>
  );
}
