import { Modal } from "@mantine/core";
import { Fragment } from "react";
import { usePlaces } from "./places.ts";

const KEYS = [
  ["Ctrl K", "Search by name"],
  ["/", "Search"],
  ["j", "Next row"],
  ["k", "Row before"],
  ["x", "Select the row"],
  ["Enter", "Open the row"],
  ["r", "Retry the selection, or the row"],
  ["c", "Cancel the selection, or the row"],
  ["p", "Pause or resume updates"],
  ["?", "This list"],
] as const;

export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const places = usePlaces().flatMap((group) => group.places);
  const rows = [...KEYS, ...places.map(({ letter, title }) => [`g ${letter}`, title] as const)];
  return (
    <Modal opened onClose={onClose} title="Keyboard" closeButtonProps={{ "aria-label": "Close" }}>
      <div className="shortcuts">
        {rows.map(([keys, title]) => (
          <Fragment key={keys}>
            <span className="row" style={{ gap: 4 }}>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </span>
            <span>{title}</span>
          </Fragment>
        ))}
      </div>
    </Modal>
  );
}
