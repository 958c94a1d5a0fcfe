import { Button, Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { Problem } from "./page.tsx";

interface Saving {
  readonly isPending: boolean;
  readonly error: unknown;
}

/** A dialog with fields: it stays open, with the server's words, until what it asks for is done. */
export function FormDialog({
  title,
  action,
  saving,
  onSubmit,
  onClose,
  children,
  size = "md",
}: {
  readonly title: string;
  readonly action: string;
  readonly saving: Saving;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly size?: string | number;
}) {
  return (
    <Modal opened onClose={onClose} title={title} size={size} closeButtonProps={{ "aria-label": "Close" }}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
        {saving.error ? <Problem error={saving.error} /> : null}
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" variant="filled" loading={saving.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
