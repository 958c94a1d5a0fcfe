import { useState } from "react";
import { copyText } from "../data/clipboard.ts";
import { Icon } from "./icon.tsx";

export function Copy({
  text,
  label = "Copy",
  bare = false,
}: {
  readonly text: string;
  readonly label?: string;
  readonly bare?: boolean;
}) {
  const [said, say] = useState<string | null>(null);
  const onClick = async () => {
    say((await copyText(text)) ? "Copied" : "Select and copy by hand");
    window.setTimeout(() => say(null), 1500);
  };
  return (
    <button
      type="button"
      className={bare ? "copy bare" : "copy"}
      onClick={onClick}
      aria-label={said ?? label}
    >
      <Icon name={said === "Copied" ? "check" : "copy"} size={13} />
      {bare ? null : (said ?? label)}
    </button>
  );
}

/** An id, whole on hover, with a way to copy it. */
export function Id({ id }: { readonly id: string }) {
  return (
    <span className="row" style={{ gap: 2 }}>
      <span className="mono clip" title={id}>
        {id}
      </span>
      <Copy text={id} label="Copy the id" bare />
    </span>
  );
}

export function Code({ text }: { readonly text: string }) {
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard. */}
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} />
    </div>
  );
}
