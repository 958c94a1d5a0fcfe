import { exactNumber } from "../data/exact-json.ts";

/** Beyond this many, the rest is behind a line that tells how many. */
const SHOWN = 200;

/** JSON that opens and closes; its texts are only ever text. */
export function JsonTree({ value, depth = 0 }: { readonly value: unknown; readonly depth?: number }) {
  return (
    <div className={depth === 0 ? "tree" : undefined}>
      {typeof value === "object" && value !== null ? (
        <Branch value={value} depth={depth} />
      ) : (
        <Leaf value={value} />
      )}
    </div>
  );
}

function Branch({ value, depth }: { readonly value: object; readonly depth: number }) {
  const entries = Object.entries(value);
  if (entries.length === 0) return <span className="leaf">{Array.isArray(value) ? "[]" : "{}"}</span>;
  return (
    <>
      {entries.slice(0, SHOWN).map(([name, inner]) => (
        <Entry key={name} name={name} value={inner} depth={depth} />
      ))}
      {entries.length > SHOWN ? (
        <div className="leaf muted">… {entries.length - SHOWN} more: see Raw</div>
      ) : null}
    </>
  );
}

function Entry({
  name,
  value,
  depth,
}: {
  readonly name: string;
  readonly value: unknown;
  readonly depth: number;
}) {
  const isBranch = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isBranch) {
    return (
      <div className="leaf">
        <span className="key">{name}: </span>
        <Leaf value={value} />
      </div>
    );
  }
  return (
    <details open={depth < 3}>
      <summary>
        <span className="key">{name}</span>{" "}
        <span className="muted small">
          {Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`}
        </span>
      </summary>
      <div>
        <Branch value={value} depth={depth + 1} />
      </div>
    </details>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  const digits = exactNumber(value);
  if (digits !== null) return <span className="number">{digits}</span>;
  if (typeof value === "string") return <span className="string">{JSON.stringify(value)}</span>;
  if (typeof value === "number") return <span className="number">{String(value)}</span>;
  if (typeof value === "object" && value !== null) return <span>{Array.isArray(value) ? "[]" : "{}"}</span>;
  return <span className="word">{String(value)}</span>;
}
