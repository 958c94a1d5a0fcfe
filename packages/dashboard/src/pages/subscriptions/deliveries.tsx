import { Modal } from "@mantine/core";
import { useAct } from "../../data/act.ts";
import { bellhop } from "../../data/client.ts";
import { useLiveQuery } from "../../data/live.ts";
import { useMay } from "../../data/session.ts";
import { List } from "../../parts/list-page.tsx";
import { RowButton } from "../../parts/row-button.tsx";
import { ResponseCode } from "../../parts/target.tsx";

const SHOWN = 50;

/** What was sent there lately, and how it went. */
export function Deliveries({
  id,
  url,
  onClose,
}: {
  readonly id: string;
  readonly url: string;
  readonly onClose: () => void;
}) {
  const mayAct = useMay("member");
  const redeliver = useAct(
    (delivery: string) => bellhop.webhooks.redeliver(id, delivery),
    () => "The message is sent again",
  );
  const deliveries = useLiveQuery(["deliveries", id], ({ signal }) => newest(id, signal));
  return (
    <Modal opened onClose={onClose} title={url} size="xl" closeButtonProps={{ "aria-label": "Close" }}>
      <List
        query={deliveries}
        keyOf={(delivery) => delivery.id}
        empty="No deliveries yet."
        columns={[
          { title: "Event", kind: "main", cell: ({ event }) => <code>{event}</code> },
          {
            title: "State",
            cell: ({ status, error }) => (
              <span
                style={{ color: status === "failed" ? "var(--failed)" : undefined }}
                title={error ?? undefined}
              >
                {status}
              </span>
            ),
          },
          { title: "Answer", cell: ({ responseCode }) => <ResponseCode code={responseCode} /> },
          { title: "Tries", kind: "num", label: "tries", cell: ({ attempts }) => attempts },
          { title: "Next", at: ({ nextAt }) => nextAt },
          { title: "When", at: ({ createdAt }) => createdAt },
          {
            actions: ({ id: delivery, status }) =>
              mayAct && status !== "pending" ? (
                <RowButton onClick={() => redeliver.mutate(delivery)}>Redeliver</RowButton>
              ) : null,
          },
        ]}
      />
    </Modal>
  );
}

async function newest(id: string, signal: AbortSignal) {
  const found = [];
  for await (const delivery of bellhop.webhooks.deliveries(id, { limit: SHOWN }, { signal })) {
    found.push(delivery);
    if (found.length === SHOWN) break;
  }
  return found;
}
