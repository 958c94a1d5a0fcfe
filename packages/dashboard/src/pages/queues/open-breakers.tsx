import { Button } from "@mantine/core";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { useList } from "../../data/live.ts";
import { useMay } from "../../data/session.ts";
import { Panel } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";

/** The hosts that the circuit breaker of a queue holds back. Nothing while it holds none. */
export function OpenBreakers({ queue }: { readonly queue: string }) {
  const breakers = useList("breakers", bellhop.breakers.list, 5_000);
  const own = breakers.data?.filter((breaker) => breaker.queue === queue) ?? [];
  if (own.length === 0) return null;
  return (
    <Panel title="Open circuit breakers">
      <ul className="reasons">
        {own.map(({ host, state, openedAt, until }) => (
          <li key={host} className="reason">
            <span>
              <code>{host}</code> fails since <Ago at={openedAt} />.{" "}
              {state === "open" ? (
                <>
                  Its tasks wait; one is tried <Ago at={until} />.
                </>
              ) : (
                "Its tasks wait; one is tried now."
              )}
            </span>
            <CloseBreaker queue={queue} host={host} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function CloseBreaker({ queue, host }: { readonly queue: string; readonly host: string }) {
  const mayAct = useMay("member");
  const close = useAct(
    () => bellhop.breakers.close(host, { queue }),
    () => `Closed: tasks to ${host} start again`,
  );
  return mayAct ? (
    <Button size="compact-xs" variant="default" loading={close.isPending} onClick={() => close.mutate()}>
      Close
    </Button>
  ) : null;
}
