import type { Task } from "@bellhop/sdk";
import { Button, Menu } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { copyText } from "../../data/clipboard.ts";
import { useMay } from "../../data/session.ts";
import { isEnded } from "../../data/status.ts";
import { curlOfCall, curlOfTask } from "../../data/task.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Icon } from "../../parts/icon.tsx";
import { tell } from "../../parts/toast.tsx";
import { useKeys } from "../../shell/keys.ts";

type AskedKind = "retry" | "cancel" | "delete";

const ASKED = {
  retry: {
    title: "Retry this task?",
    action: "Retry it",
    warning: "It is called again, with all its retries. A call that was made cannot be taken back.",
  },
  cancel: {
    title: "Cancel this task?",
    action: "Cancel it",
    warning: "Its call is in flight and will be aborted. The target may still have acted on it.",
  },
  delete: {
    title: "Delete this task?",
    action: "Delete it",
    warning: "No call is made, and its record is deleted. This cannot be undone.",
  },
} as const;

export function TaskActions({ task }: { readonly task: Task }) {
  const navigate = useNavigate();
  const mayAct = useMay("member");
  const [asked, ask] = useState<AskedKind | null>(null);
  const retry = useAct(
    () => bellhop.tasks.retry(task.id),
    () => "The task was restarted",
  );
  const cancel = useAct(
    () => bellhop.tasks.cancel(task.id),
    () => ({ text: "The task is cancelled", undo: () => retry.mutate(undefined) }),
  );
  const dismiss = useAct(
    () => bellhop.tasks.dismiss(task.id),
    () => "Dismissed: nobody needs to look at it any more",
  );
  const remove = useAct(
    () => bellhop.tasks.delete(task.id),
    () => {
      void navigate({ to: "/tasks" });
      return "The task is deleted";
    },
  );
  const mayRetry = mayAct && (task.status === "failed" || task.status === "cancelled");
  const mayCancel = mayAct && !isEnded(task.status);
  // Only a call that is under way cannot be had back.
  const onCancel = () => (task.status === "active" ? ask("cancel") : cancel.mutate(undefined));
  useKeys({
    ...(mayRetry ? { r: () => ask("retry") } : {}),
    ...(mayCancel ? { c: onCancel } : {}),
  });
  return (
    <>
      {mayRetry ? (
        <Button
          variant="filled"
          leftSection={<Icon name="retry" size={14} />}
          loading={retry.isPending}
          onClick={() => retry.mutate(undefined)}
        >
          Retry
        </Button>
      ) : null}
      {mayAct && task.status === "failed" && task.dismissedAt === undefined ? (
        <Button loading={dismiss.isPending} onClick={() => dismiss.mutate(undefined)}>
          Dismiss
        </Button>
      ) : null}
      {mayCancel ? <Button onClick={onCancel}>Cancel</Button> : null}
      {mayAct && task.status === "pending" ? <Button onClick={() => ask("delete")}>Delete …</Button> : null}
      {mayAct ? (
        <Button renderRoot={(props) => <Link to="/new" search={{ from: task.id }} {...props} />}>
          Send again …
        </Button>
      ) : null}
      <CopyMenu task={task} />
      {asked === null ? null : (
        <Confirm
          title={ASKED[asked].title}
          action={ASKED[asked].action}
          onClose={() => ask(null)}
          onConfirm={() => {
            ask(null);
            ({ retry, cancel, delete: remove })[asked].mutate(undefined);
          }}
        >
          <p>{ASKED[asked].warning}</p>
        </Confirm>
      )}
    </>
  );
}

function CopyMenu({ task }: { readonly task: Task }) {
  const copy = async (text: string) =>
    tell((await copyText(text)) ? "Copied" : "This browser does not allow copying");
  return (
    <Menu>
      <Menu.Target>
        <Button rightSection={<Icon name="down" size={12} />}>Copy</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => copy(curlOfTask(task, window.location.origin))}>
          curl command for a task like this
        </Menu.Item>
        <Menu.Item onClick={() => copy(curlOfCall(task))}>curl that makes the call by hand</Menu.Item>
        <Menu.Item onClick={() => copy(task.id)}>Id</Menu.Item>
        <Menu.Item onClick={() => copy(window.location.href)}>Link to this page</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
