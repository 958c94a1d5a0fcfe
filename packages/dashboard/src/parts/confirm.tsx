import { Button, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { holding } from "./form-dialog.tsx";

/**
 * Asks before what cannot be undone, and closes. With `typed` the reader writes that word first; with `isBusy` it stays open,
 * to be closed when the deed is done.
 */
export function Confirm({
  title,
  children,
  action,
  typed,
  isBusy,
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
          if (!isReady) return;
          onConfirm();
          if (isBusy === undefined) onClose();
        }}
      >
        <div className="stack">{children}</div>
        {typed === undefined ? null : (
          <TextInput
            label={`Type ${typed} to confirm`}
            {...holding(text, setText)}
            autoComplete="off"
            data-autofocus
          />
        )}
        <div className="row end">
          <Button onClick={onClose}>Keep</Button>
          <Button type="submit" variant="filled" color="red" disabled={!isReady} loading={isBusy === true}>
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
