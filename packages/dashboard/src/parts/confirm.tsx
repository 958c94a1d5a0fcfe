import { Button, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";

/** Asks before what cannot be undone. With `typed` the reader writes that word first. */
export function Confirm({
  title,
  children,
  action,
  typed,
  isBusy = false,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly children: ReactNode;
  /** What the button says: the deed, not "OK". */
  readonly action: string;
  readonly typed?: string;
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState("");
  const isReady = typed === undefined || text === typed;
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": "Close" }}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onConfirm();
        }}
      >
        <div className="stack">{children}</div>
        {typed === undefined ? null : (
          <TextInput
            label={`Type ${typed} to confirm`}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        )}
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <Button onClick={onClose}>Keep</Button>
          <Button type="submit" variant="filled" color="red" disabled={!isReady} loading={isBusy}>
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
