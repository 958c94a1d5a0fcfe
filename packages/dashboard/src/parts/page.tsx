import { ApiError, BellhopError } from "@bellhop/sdk";
import { type ReactNode, useEffect } from "react";
import { Code } from "./copy.tsx";

export function Page({ children, title }: { readonly children: ReactNode; readonly title: string }) {
  useEffect(() => {
    document.title = `${title} · Bellhop`;
  }, [title]);
  return <div className="page">{children}</div>;
}

/** Title to the left, actions to the right. */
export function PageHead({ title, children }: { readonly title: ReactNode; readonly children?: ReactNode }) {
  return (
    <header className="page-head">
      <h1 className="clip">{title}</h1>
      {children}
    </header>
  );
}

export function Panel({
  title,
  actions,
  children,
  flush = false,
}: {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** For a table, which has its own distances. */
  readonly flush?: boolean;
}) {
  return (
    <section className="panel">
      {title === undefined ? null : (
        <div className="panel-head">
          <h2>{title}</h2>
          {actions}
        </div>
      )}
      <div className={flush ? "" : "panel-body"}>{children}</div>
    </section>
  );
}

/** Teaches how the page is filled. */
export function Empty({
  title,
  children,
  code,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly code?: string;
}) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children === undefined ? null : <p>{children}</p>}
      {code === undefined ? null : <Code text={code} />}
    </div>
  );
}

/** What went wrong, what to do, and the id that names the request in the server's log. */
export function Problem({ error }: { readonly error: unknown }) {
  return (
    <div className="problem" role="alert">
      <strong className="wrap">{messageOf(error)}</strong>
      <p className="muted">{adviceOn(error)}</p>
      {error instanceof ApiError && error.requestId ? (
        <p className="small muted">
          Request <span className="mono">{error.requestId}</span>
        </p>
      ) : null}
    </div>
  );
}

export function messageOf(error: unknown): string {
  return error instanceof BellhopError || error instanceof Error ? error.message : "Something went wrong";
}

function adviceOn(error: unknown): string {
  if (!(error instanceof ApiError)) return "The page retries automatically. Is the server running?";
  if (error.status === 404) return "It may have been deleted, or belong to another team.";
  if (error.status === 403) return "Your role in this team does not allow it. An admin can change your role.";
  if (error.status === 429) return "Too many requests. The page retries automatically.";
  if (error.status >= 500) return "The server's log has details under this request id.";
  return "Change the request and try again.";
}

/** Stands where rows will be, and shows only if they take longer than 300 ms. */
export function Skeletons({ rows = 5, height = 24 }: { readonly rows?: number; readonly height?: number }) {
  return (
    <div className="stack panel-body" aria-busy="true">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="skeleton" style={{ height }} />
      ))}
    </div>
  );
}

interface Loading<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
}

/** What a query has: its data, also old ones; or its error; or the place where they will be. */
export function Loaded<Data>({
  query,
  rows,
  children,
}: {
  readonly query: Loading<Data>;
  readonly rows?: number;
  readonly children: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) {
    return (
      <div className="panel-body">
        <Problem error={query.error} />
      </div>
    );
  }
  return <Skeletons {...(rows === undefined ? {} : { rows })} />;
}
