import { SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import { parseExact } from "../../data/exact-json.ts";
import { Code } from "../../parts/copy.tsx";
import { JsonTree } from "../../parts/json-tree.tsx";

/** A text that somebody else wrote: JSON as a tree, and always as it is. */
export function Body({ text }: { readonly text: string }) {
  const parsed = useMemo(() => tryParse(text), [text]);
  const [view, setView] = useState("tree");
  if (parsed === null) return <Code text={text} />;
  return (
    <div className="stack">
      <SegmentedControl
        aria-label="Show as"
        style={{ alignSelf: "flex-start" }}
        value={view}
        onChange={setView}
        data={[
          { value: "tree", label: "Tree" },
          { value: "raw", label: "Raw" },
        ]}
      />
      {view === "tree" ? <JsonTree value={parsed.value} /> : <Code text={text} />}
    </div>
  );
}

/** Null for what is no JSON, and for bare words and numbers, which are no trees. */
function tryParse(text: string): { readonly value: object } | null {
  try {
    const value = parseExact(text);
    return typeof value === "object" && value !== null ? { value } : null;
  } catch {
    return null;
  }
}
