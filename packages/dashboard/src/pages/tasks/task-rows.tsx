import type { TaskSummary } from "@bellhop/sdk";
import { useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useRef, useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { useIsPhone } from "../../data/media.ts";
import { useSandbox } from "../../data/sandbox.ts";
import { wordsOf } from "../../data/task.ts";
import { State } from "../../parts/state.tsx";
import { ResponseCode, Target } from "../../parts/target.tsx";
import { Ago, Duration } from "../../parts/time.tsx";
import { tell } from "../../parts/toast.tsx";
import { useKeys } from "../../shell/keys.ts";
import { type Asked, fits } from "./bulk-bar.tsx";

/** Where rows reach this close to their end, older ones are fetched. */
const NEAR_END = 30;

/** Rows of which only those in sight are in the page, however many there are. */
export function TaskRows({
  rows,
  selected,
  onSelect,
  onAsk,
  onScrolled,
  onEnd,
}: {
  readonly rows: readonly TaskSummary[];
  /** Null for a reader who may not act. */
  readonly selected: ReadonlySet<string> | null;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
  readonly onAsk: (asked: Asked) => void;
  readonly onScrolled: (isScrolled: boolean) => void;
  readonly onEnd: (() => Promise<void>) | null;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(-1);
  const height = useIsPhone() ? 60 : 36;
  const search = useSandbox().sandbox === undefined ? "" : "?sandbox=true";
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => height,
    overscan: 12,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  useEffect(() => virtual.measure(), [height]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (onEnd !== null && last > rows.length - NEAR_END && rows.length >= 100) void onEnd();
  }, [last, rows.length, onEnd]);

  const toggle = (id: string) => {
    if (selected === null) return;
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    onSelect(next);
  };
  useRowKeys({
    rows,
    current,
    setCurrent,
    toggle,
    selected,
    onAsk,
    scrollTo: virtual.scrollToIndex,
  });

  return (
    <>
      <div className="task-head">
        {selected === null ? <span /> : <SelectAll rows={rows} selected={selected} onSelect={onSelect} />}
        <span>State</span>
        <span>Queue</span>
        <span>Target</span>
        <span>Answer</span>
        <span className="num">Attempts</span>
        <span className="num">Took</span>
        <span className="num">When</span>
      </div>
      <div className="list" ref={frame} onScroll={(event) => onScrolled(event.currentTarget.scrollTop > 40)}>
        <div className="list-rows" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const task = rows[item.index];
            if (task === undefined) return null;
            return (
              <div
                key={item.key}
                className="task-row"
                style={{ transform: `translateY(${item.start}px)` }}
                data-current={item.index === current}
                data-selected={selected?.has(task.id) === true}
              >
                {selected === null ? (
                  <span />
                ) : (
                  <label className="hit">
                    <input
                      type="checkbox"
                      aria-label={`Select ${task.id}`}
                      checked={selected.has(task.id)}
                      onChange={() => toggle(task.id)}
                    />
                  </label>
                )}
                <Cells task={task} search={search} />
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

/** A plain link: the router's would recompute fifty URLs in every frame while scrolling. */
const Cells = memo(function Cells({ task, search }: { readonly task: TaskSummary; readonly search: string }) {
  const navigate = useNavigate();
  const onClick = (event: React.MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void navigate({ to: "/tasks/$id", params: { id: task.id } });
  };
  return (
    <a href={`/tasks/${task.id}${search}`} onClick={onClick}>
      <span className="cell-state">
        <State status={task.status} />
      </span>
      <span className="cell-queue clip">{task.queue}</span>
      <span className="cell-target clip">
        <Target task={task} />
      </span>
      <span className="cell-answer clip">
        <Answer task={task} />
      </span>
      <span className="cell-attempts num">{task.attemptCount || "–"}</span>
      <span className="cell-took num">
        <Duration ms={task.result?.duration} />
      </span>
      <span className="cell-when num muted">
        <Ago at={task.status === "pending" ? task.runAt : task.createdAt} />
      </span>
    </a>
  );
});

function Answer({ task }: { readonly task: TaskSummary }) {
  const text = wordsOf(task.error) ?? (task.result === undefined ? task.failureReason : undefined);
  return (
    <>
      {task.result === undefined ? null : <ResponseCode code={task.result.statusCode} />}
      {text === undefined ? null : (
        <span className="muted" title={task.error ?? text}>
          {task.result === undefined ? "" : " "}
          {text}
        </span>
      )}
    </>
  );
}

function SelectAll({
  rows,
  selected,
  onSelect,
}: {
  readonly rows: readonly TaskSummary[];
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
}) {
  const isAll = selected.size > 0 && selected.size === rows.length;
  return (
    <input
      type="checkbox"
      aria-label="Select all rows that are loaded"
      checked={isAll}
      ref={(box) => {
        if (box !== null) box.indeterminate = selected.size > 0 && !isAll;
      }}
      onChange={() => onSelect(new Set(selected.size > 0 ? [] : rows.map(({ id }) => id)))}
    />
  );
}

/**
 * `r` and `c` act on the selection, or where nothing is selected on the row that `j` and `k` are at. Both ask first; but a
 * task that is not being called is cancelled at once, for that can be undone.
 */
function useRowKeys({
  rows,
  current,
  setCurrent,
  toggle,
  selected,
  onAsk,
  scrollTo,
}: {
  readonly rows: readonly TaskSummary[];
  readonly current: number;
  readonly setCurrent: (index: number) => void;
  readonly toggle: (id: string) => void;
  /** Null for a reader who may not act. */
  readonly selected: ReadonlySet<string> | null;
  readonly onAsk: (asked: Asked) => void;
  readonly scrollTo: (index: number) => void;
}) {
  const navigate = useNavigate();
  const retry = useAct(
    (id: string) => bellhop.tasks.retry(id),
    () => "The task was restarted",
  );
  const cancel = useAct((id: string) => bellhop.tasks.cancel(id), cancelled);
  const task = rows[current];
  const move = (by: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, current + by));
    setCurrent(next);
    scrollTo(next);
  };
  function cancelled(_: unknown, id: string) {
    return { text: "The task is cancelled", undo: () => retry.mutate(id) };
  }
  function act(kind: "retry" | "cancel") {
    if (selected === null) return;
    const ids = selected.size > 0 ? selected : new Set([task?.id ?? ""]);
    const first = rows.find((row) => ids.has(row.id) && fits(kind, row));
    if (first === undefined) tell(NOTHING_FITS[kind]);
    else if (selected.size === 0 && kind === "cancel" && first.status !== "active") cancel.mutate(first.id);
    else onAsk({ kind, ids });
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(task === undefined
      ? {}
      : {
          Enter: () => navigate({ to: "/tasks/$id", params: { id: task.id } }),
          ...(selected === null ? {} : { x: () => toggle(task.id) }),
        }),
    ...(selected === null || (task === undefined && selected.size === 0)
      ? {}
      : { r: () => act("retry"), c: () => act("cancel") }),
  });
}

const NOTHING_FITS = {
  retry: "Only failed and cancelled tasks can be retried",
  cancel: "A task that has ended cannot be cancelled",
} as const;
