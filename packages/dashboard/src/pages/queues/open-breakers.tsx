import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useAct } from "../../data/act.ts";
import { type Breaker, useBreakers } from "../../data/breakers.ts";
import { bellhop } from "../../data/client.ts";
import { useMay } from "../../data/session.ts";
import { toneOf } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";

/** The hosts that circuit breakers hold back, of one queue or of all. Nothing while they hold none. */
export function OpenBreakers({ queue }: { readonly queue?: string }) {
  const { breakers } = useBreakers();
  const shown = breakers.filter((breaker) => queue === undefined || breaker.queue === queue);
  if (shown.length === 0) return null;
  return (
    <section className="note" style={toneOf("failed")} aria-label="Open circuit breakers">
      <strong>{shown.length === 1 ? "Open circuit breaker" : "Open circuit breakers"}</strong>
      <ul>
        {shown.map((breaker) => (
          <li key={`${breaker.queue} ${breaker.host}`} className="reason">
            <span>
              {queue === undefined ? (
                <>
                  <Link to="/queues/$name" params={{ name: breaker.queue }} className="link">
                    {breaker.queue}
                  </Link>
                  :{" "}
                </>
              ) : null}
              <code>{breaker.host}</code> has been failing for <Ago at={breaker.openedAt} bare />. Its tasks
              wait without losing attempts. <Next breaker={breaker} />
            </span>
            <CloseBreaker breaker={breaker} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Next({ breaker: { state, until } }: { readonly breaker: Breaker }) {
  if (state === "probing") return "One of them is being tried.";
  return (
    <>
      One of them is tried <Ago at={until} />.
    </>
  );
}

function CloseBreaker({ breaker: { queue, host } }: { readonly breaker: Breaker }) {
  const mayAct = useMay("member");
  const close = useAct(
    () => bellhop.breakers.close(host, { queue }),
    () => `Closed: tasks to ${host} start again`,
  );
  return mayAct ? (
    <Button size="compact-xs" loading={close.isPending} onClick={() => close.mutate(undefined)}>
      Close it
    </Button>
  ) : null;
}
