import { Autocomplete } from "@mantine/core";
import { type ReactNode, useRef, useState } from "react";
import { formatTime } from "../../data/format.ts";
import { useQueues } from "../../data/queues.ts";
import { typedText } from "../../data/suggestions.ts";
import { useSuggestions } from "../../data/suggestions-query.ts";
import {
  FILTER_NAMES,
  FILTERS,
  type FilterName,
  readFilter,
  type TaskSearch,
} from "../../data/task-search.ts";
import { Icon } from "../../parts/icon.tsx";
import { useKeys } from "../../shell/keys.ts";

const SUGGESTED = [
  "code:5xx",
  "code:4xx",
  "code:timeout",
  "code:network",
  "reason:retries_exhausted",
  "reason:not_retryable",
  "reason:expired",
  "reason:blocked",
  "reason:token_revoked",
  "reason:poll_failed",
  "reason:poll_timeout",
  "reason:callback_timeout",
  "reason:worker_lost",
  "after:15m",
  "after:1h",
  "after:24h",
  "before:24h",
];

/** Told by the tabs and the switch above. */
const ELSEWHERE: readonly FilterName[] = ["status", "sandbox"];

export function Filters({
  search,
  onChange,
  children,
}: {
  readonly search: TaskSearch;
  readonly onChange: (search: TaskSearch) => void;
  readonly children: ReactNode;
}) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [isOpened, setOpened] = useState(false);
  const queues = useQueues();
  const suggestions = useSuggestions(isOpened);
  useKeys({ "/": () => field.current?.focus() });
  const add = (typed: string) => {
    const found = readFilter(typed, Date.now());
    if (found === null) return;
    setText("");
    onChange({ ...search, [found[0]]: found[1] });
  };
  const remove = (name: FilterName) => onChange({ ...search, [name]: undefined });
  const chips = FILTER_NAMES.filter((name) => search[name] !== undefined && !ELSEWHERE.includes(name));
  return (
    <div className="chips">
      <Autocomplete
        ref={field}
        aria-label="Add a filter"
        placeholder="Tag, host, id, words of an error, code:5xx"
        leftSection={<Icon name="search" size={14} />}
        style={{ flex: "0 1 340px", minWidth: 240 }}
        value={text}
        onChange={setText}
        onFocus={() => setOpened(true)}
        limit={40}
        onOptionSubmit={add}
        maxDropdownHeight={260}
        data={[
          ...new Set([
            ...(queues.data ?? []).map(({ name }) => `queue:${name}`),
            ...SUGGESTED,
            ...suggestions.map(typedText),
          ]),
        ]}
        onKeyDown={(event) => {
          if (event.key === "Enter" && event.currentTarget.getAttribute("aria-activedescendant") === null)
            add(text);
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      {chips.map((name) => (
        <span key={name} className="chip">
          <span className="clip" title={search[name]}>
            <span className="muted">{FILTERS[name]} </span>
            {shownValue(name, search[name] ?? "")}
          </span>
          <button
            type="button"
            aria-label={`Remove the filter ${FILTERS[name]}`}
            onClick={() => remove(name)}
          >
            <Icon name="cross" size={11} />
          </button>
        </span>
      ))}
      {children}
    </div>
  );
}

function shownValue(name: FilterName, value: string): string {
  const isTime = name === "created_after" || name === "created_before";
  const at = new Date(value);
  return isTime && !Number.isNaN(at.getTime()) ? formatTime(at) : value;
}
