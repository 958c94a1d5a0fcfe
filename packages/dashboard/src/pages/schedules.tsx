import type { AnswerOf } from "@bellhop/sdk";
import { Button, Menu } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../data/act.ts";
import { bellhop } from "../data/client.ts";
import { curl } from "../data/examples.ts";
import { useList } from "../data/live.ts";
import { useScheduleActions } from "../data/schedules.ts";
import { useMay } from "../data/session.ts";
import { statusOf } from "../data/status.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Icon } from "../parts/icon.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Empty } from "../parts/page.tsx";
import { RowButton } from "../parts/row-button.tsx";
import { State } from "../parts/state.tsx";
import type { Column } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { ScheduleDialog } from "./schedules/schedule-dialog.tsx";

type Schedule = AnswerOf<"listSchedules">["schedules"][number];
type Opened = { readonly kind: "edit" | "delete"; readonly schedule: Schedule } | "new" | null;

export function Schedules() {
  const mayAct = useMay("member");
  const schedules = useList("schedules", bellhop.schedules.list, 5_000);
  const [opened, open] = useState<Opened>(null);
  const remove = useAct(
    ({ id }: Schedule) => bellhop.schedules.delete(id),
    (_, { name }) => `Deleted ${name}: its tasks remain`,
  );
  const close = () => open(null);
  return (
    <ListPage
      title="Schedules"
      query={schedules}
      keyOf={({ id }) => id}
      columns={columnsOf(mayAct, open)}
      newTitle="New schedule"
      onNew={mayAct ? () => open("new") : null}
      empty={
        <Empty
          title="No schedules yet"
          code={curl("PUT", "/v1/schedules/nightly", {
            cron: "0 3 * * *",
            timezone: "Europe/Berlin",
            task: { queue: "default", webhook_url: "http://127.0.0.1:9000/nightly" },
          })}
        >
          A schedule creates a task at each time of a cron expression, in any time zone, exactly once over all
          nodes.
        </Empty>
      }
    >
      {opened === "new" ? <ScheduleDialog onClose={close} /> : null}
      {opened !== null && opened !== "new" && opened.kind === "edit" ? (
        <ScheduleDialog id={opened.schedule.id} onClose={close} />
      ) : null}
      {opened !== null && opened !== "new" && opened.kind === "delete" ? (
        <Confirm
          title={`Delete ${opened.schedule.name}?`}
          action="Delete it"
          onClose={close}
          onConfirm={() => remove.mutate(opened.schedule)}
        >
          <p>It creates no more tasks. Its existing tasks remain.</p>
        </Confirm>
      ) : null}
    </ListPage>
  );
}

function columnsOf(mayAct: boolean, open: (opened: Opened) => void): readonly Column<Schedule>[] {
  return [
    {
      title: "Name",
      kind: "main",
      cell: ({ name, paused }) => (
        <span className="row">
          <Link to="/schedules/$name" params={{ name }} className="clip">
            {name}
          </Link>
          {paused ? <span className="tag warn">paused</span> : null}
        </span>
      ),
    },
    {
      title: "When",
      cell: ({ cron, timezone }) => (
        <span>
          <code>{cron}</code> <span className="muted small">{timezone}</span>
        </span>
      ),
    },
    {
      title: "Next",
      kind: "num",
      label: "next",
      cell: ({ nextRuns, paused }) => (paused ? <span className="muted">–</span> : <Ago at={nextRuns[0]} />),
    },
    {
      title: "Last task",
      cell: ({ lastTask }) => {
        const status = statusOf(lastTask?.status);
        if (lastTask === null) return <span className="muted">no task yet</span>;
        return (
          <Link to="/tasks/$id" params={{ id: lastTask.id }} className="row">
            {status === undefined ? lastTask.status : <State status={status} />}
            <span className="muted">
              <Ago at={lastTask.createdAt} />
            </span>
          </Link>
        );
      },
    },
    {
      title: "Last error",
      cell: ({ lastError }) =>
        lastError === null ? null : (
          <span style={{ color: "var(--failed)" }} className="wrap">
            {lastError.error} <Ago at={lastError.at} />
          </span>
        ),
    },
    { actions: (schedule) => (mayAct ? <Actions schedule={schedule} open={open} /> : null) },
  ];
}

function Actions({
  schedule,
  open,
}: {
  readonly schedule: Schedule;
  readonly open: (opened: Opened) => void;
}) {
  const { name, paused } = schedule;
  const { run, pause, resume } = useScheduleActions(name);
  return (
    <>
      <RowButton onClick={() => run.mutate(undefined)}>Run now</RowButton>
      <Menu>
        <Menu.Target>
          <Button size="compact-xs" aria-label={`More about ${name}`}>
            <Icon name="more" size={14} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => (paused ? resume : pause).mutate(undefined)}>
            {paused ? "Resume" : "Pause"}
          </Menu.Item>
          <Menu.Item onClick={() => open({ kind: "edit", schedule })}>Change …</Menu.Item>
          <Menu.Item onClick={() => open({ kind: "delete", schedule })}>Delete …</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
