import { Modal } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useQueues } from "../data/queues.ts";
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

function useCommands(text: string, extra: readonly Command[]): readonly Command[] {
  const navigate = useNavigate();
  const places = usePlaces().flatMap((group) => group.places);
  const queues = useQueues();
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
    ...extra,
  ];
  const found = commands.filter(({ title }) => title.toLowerCase().includes(wanted));
  if (wanted === "") return found;
  const search = (name: "tag" | "host"): Command => ({
    title: `Tasks with ${name} “${text.trim()}”`,
    note: "search",
    icon: "search",
    run: () => navigate({ to: "/tasks", search: { [name]: text.trim() } }),
  });
  return [...found, search("tag"), search("host")];
}

/** Search by name: pages, queues, a task by its id, switches. */
export function Palette({
  extra,
  onClose,
}: {
  readonly extra: readonly Command[];
  readonly onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const commands = useCommands(text, extra);
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
          placeholder="A page, a queue, a task’s id, a tag, a host …"
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
              key={`${command.note} ${command.title}`}
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
