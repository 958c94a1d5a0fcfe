import type { AnswerOf } from "@bellhop/sdk";
import { Link } from "@tanstack/react-router";
import { Ago } from "../../parts/time.tsx";

type ReasonAnswer = AnswerOf<"explainTask">["reasons"][number];

const INSTANT = /(?:at |since )?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** What happens at the time that a reason names. */
const THEN: Readonly<Record<string, string>> = {
  delayed: "It is due",
  backing_off: "The next attempt is due",
  call_under_way: "It times out",
  awaiting_callback: "Without one it fails",
  polling: "Without an end it fails",
  flow_rate: "The next call may begin",
  queue_rate: "The next call may begin",
  flow_paused: "The pause ends",
  breaker_open: "One of them is tried",
};

/** A reason in a sentence: times that the server writes for programs are shown as people say them. */
export function Reason({
  reason,
  flow,
}: {
  readonly reason: ReasonAnswer;
  /** The key of the task's flow. */
  readonly flow: string | null;
}) {
  const { code, detail, until, blockedBy } = reason;
  // Every second part is a time.
  const parts = detail.split(INSTANT);
  return (
    <li className="reason">
      <span>
        {parts.map((part, index) => (index % 2 === 1 ? <Ago key={part} at={part} /> : part))}.
        {until === null ? null : (
          <>
            {" "}
            {THEN[code] ?? "It is over"} <Ago at={until} />.
          </>
        )}
        {code.startsWith("flow_") && flow !== null ? (
          <>
            {" "}
            <Link to="/flows" search={{ search: flow }} className="link">
              Open the flow
            </Link>
          </>
        ) : null}
        {blockedBy === undefined ? null : (
          <>
            {" "}
            <Link to="/tasks/$id" params={{ id: blockedBy }} className="link">
              Open that task
            </Link>
          </>
        )}
      </span>
    </li>
  );
}
