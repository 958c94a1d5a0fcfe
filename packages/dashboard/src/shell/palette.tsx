import { Modal } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { bellhop } from "../data/client.ts";
import { useList } from "../data/live.ts";
import { usePause, useQueues } from "../data/queues.ts";
import { useMay } from "../data/session.ts";
import type { FailureGroup } from "../data/stats.ts";
import { useFailures } from "../data/stats-query.ts";
import { matching } from "../data/suggestions.ts";
import { useSuggestions } from "../data/suggestions-query.ts";
import { wordsOf } from "../data/task.ts";
import { FILTERS, readFilter, type TaskSearch } from "../data/task-search.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { usePlaces } from "./places.ts";

interface Command {
  readonly title: string;
  readonly note: string;
  readonly icon: IconName;
  readonly run: () => void;
}

/** Task ids are found by either spelling. */
const TASK_ID = /^(task_[0-9a-z]{26}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** A group of failures that is to be retried, once its dialog has counted it. */
export type RetriedGroup = FailureGroup["filter"];

function useCommands(
  text: string,
  extra: readonly Command[],
  onRetry: (group: RetriedGroup) => void,
): readonly Command[] {
  const navigate = useNavigate();
  const places = usePlaces().flatMap((group) => group.places);
  const queues = useQueues();
  const suggestions = useSuggestions();
  const acts = useActs(onRetry);
  const wanted = text.trim().toLowerCase();
  if (TASK_ID.test(wanted)) {
    const run = () => navigate({ to: "/tasks/$id", params: { id: wanted } });
    return [{ title: wanted, note: "open this task", icon: "tasks", run }];
  }
  const commands: Command[] = [
    ...places.map(({ to, title, icon, letter }) => ({
      title,
      note: `g ${letter}`,
      icon,
      run: () => navigate({ to }),
    })),
    ...(queues.data ?? []).map(
      ({ name }): Command => ({
        title: name,
        note: "queue",
        icon: "queues",
        run: () => navigate({ to: "/queues/$name", params: { name } }),
      }),
    ),
  ];
  const words = wanted.split(/\s+/);
  const fits = ({ title }: Command) => words.every((word) => title.toLowerCase().includes(word));
  const found = commands.filter(fits);
  const deeds = [...acts, ...extra].filter(fits);
  if (wanted === "") return [...found, ...deeds];
  const search = (title: string, filter: TaskSearch): Command => ({
    title,
    note: "tasks",
    icon: "search",
    run: () => navigate({ to: "/tasks", search: filter }),
  });
  const known = matching(suggestions, wanted, MOST_SUGGESTED).flatMap(({ name, value }) => [
    search(`Failed tasks with ${FILTERS[name]} ${value}`, { status: "failed", [name]: value }),
    search(`All tasks with ${FILTERS[name]} ${value}`, { [name]: value }),
  ]);
  const [name, value] = readFilter(text, Date.now()) ?? ["tag", wanted];
  const typed = [
    search(`Tasks with ${FILTERS[name]} “${value}”`, { [name]: value }),
    search(`Tasks whose error says “${text.trim()}”`, { error: `*${text.trim()}*` }),
  ];
  // Where to go, then what is looked for, then what can be done: a name of a customer is in the words of failures too.
  return [...found, ...known, ...deeds, ...typed];
}

const MOST_SUGGESTED = 6;

/** What can be done from here, by its name. */
function useActs(onRetry: (group: RetriedGroup) => void): readonly Command[] {
  const navigate = useNavigate();
  const mayAct = useMay("member");
  const isAdmin = useMay("admin");
  const pause = usePause();
  const queues = useQueues();
  const failures = useFailures("1h");
  const schedules = useList("schedules", bellhop.schedules.list, 30_000);
  const ofSchedules = (schedules.data ?? []).map(
    ({ name }): Command => ({
      title: name,
      note: "schedule",
      icon: "schedules",
      run: () => navigate({ to: "/schedules/$name", params: { name } }),
    }),
  );
  if (!mayAct) return ofSchedules;
  return [
    ...ofSchedules,
    ...(queues.data ?? []).map(
      ({ name, paused }): Command => ({
        title: `${paused ? "Resume" : "Pause"} ${name}`,
        note: "do it",
        icon: "pause",
        run: () => pause.mutate({ names: [name], isPaused: !paused }),
      }),
    ),
    ...(failures.data ?? []).map(
      ({ queue, host, count, responseCode, error, filter }): Command => ({
        title: `Retry ${count} failed in ${queue}: ${responseCode ?? ""} ${wordsOf(error) ?? host}`,
        note: "asks first",
        icon: "retry",
        run: () => onRetry(filter),
      }),
    ),
    ...(isAdmin
      ? [
          {
            title: "New API key",
            note: "do it",
            icon: "key",
            run: () => navigate({ to: "/keys", search: { new: "true" } }),
          } as const,
        ]
      : []),
  ];
}

/** Two that read the same are one to the reader. */
function withoutRepeats(commands: readonly Command[]): readonly Command[] {
  const keys = commands.map(keyOf);
  return commands.filter((_, index) => keys.indexOf(keys[index] ?? "") === index);
}

function keyOf({ note, title }: Command): string {
  return `${note} ${title}`;
}

/** Everything by its name: pages, queues, schedules, tasks by what they have, and what can be done. */
export function Palette({
  extra,
  onRetry,
  onClose,
}: {
  readonly extra: readonly Command[];
  readonly onRetry: (group: RetriedGroup) => void;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const commands = withoutRepeats(useCommands(text, extra, onRetry));
  const chosen = Math.min(at, commands.length - 1);
  const run = (command: Command | undefined) => {
    onClose();
    command?.run();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, commands.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
    else if (event.key === "Enter") run(commands[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      padding={0}
      size={560}
      yOffset="12vh"
      centered={false}
      transitionProps={{ duration: 0 }}
    >
      <div className="palette">
        <input
          // At once, not when the dialog has come to rest: the next key is meant for it.
          ref={(field) => field?.focus()}
          data-autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={`palette-${chosen}`}
          aria-label="Go to a page, a queue or a task"
          placeholder="A customer, a tag, an error, a queue, a task’s id, something to do …"
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <div role="listbox" id="palette-list" aria-label="Found" className="palette-list">
          {commands.map((command, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys.
            <div
              key={keyOf(command)}
              ref={index === chosen ? (option) => option?.scrollIntoView({ block: "nearest" }) : undefined}
              id={`palette-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              onMouseMove={() => setAt(index)}
              onClick={() => run(command)}
            >
              <Icon name={command.icon} />
              <span className="clip">{command.title}</span>
              <span className="small muted">{command.note}</span>
            </div>
          ))}
        </div>
      </div>
    </Modal>
  );
}
