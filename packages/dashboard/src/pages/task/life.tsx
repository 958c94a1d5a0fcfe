import type { Task } from "@bellhop/sdk";
import { Fragment } from "react";
import { isEnded, type Status } from "../../data/status.ts";
import { State } from "../../parts/state.tsx";
import { Ago, Duration, Moment } from "../../parts/time.tsx";

interface Step {
  readonly status: Status;
  readonly title: string;
  readonly at: string;
}

function stepsOf(task: Task): readonly Step[] {
  const steps: Step[] = [{ status: "pending", title: "created", at: task.createdAt }];
  if (task.startedAt) steps.push({ status: "active", title: "first attempt", at: task.startedAt });
  const answered = task.attempts.findLast(({ status }) => status === "success");
  const goesOn = task.waitForCallback === true || task.pollConfig !== undefined;
  if (answered && goesOn) {
    const at = new Date(new Date(answered.executedAt).getTime() + (answered.duration ?? 0)).toISOString();
    steps.push({
      status: task.pollConfig === undefined ? "waiting" : "polling",
      title: task.pollConfig === undefined ? "waiting for its callback" : "polled",
      at,
    });
  }
  if (task.completedAt) steps.push({ status: task.status, title: task.status, at: task.completedAt });
  return steps;
}

/** Its states in order, and how long each took. */
export function Life({ task }: { readonly task: Task }) {
  const steps = stepsOf(task);
  return (
    <ol className="life">
      {steps.map((step, index) => (
        <Fragment key={step.title}>
          {index === 0 ? null : (
            <li className="gap num">
              <Duration ms={between(steps[index - 1]?.at, step.at)} />
            </li>
          )}
          <li>
            <div className="step">
              <State status={step.status} />
              <span className="small muted">
                {step.title === step.status ? null : `${step.title} `}
                <Moment at={step.at} />
              </span>
            </div>
          </li>
        </Fragment>
      ))}
      {isEnded(task.status) ? null : (
        <>
          <li className="gap">now</li>
          <li>
            <div className="step">
              <State status={task.status} />
              <span className="small muted">
                {task.status === "pending" || task.status === "polling" ? (
                  <>
                    {isPast(task.runAt) ? "due" : "next"} <Ago at={task.runAt} />
                  </>
                ) : (
                  "under way"
                )}
              </span>
            </div>
          </li>
        </>
      )}
    </ol>
  );
}

/** Its time has come, and something else holds it up. */
function isPast(at: string): boolean {
  return new Date(at).getTime() <= Date.now();
}

function between(from: string | undefined, to: string): number {
  return from === undefined ? 0 : new Date(to).getTime() - new Date(from).getTime();
}
