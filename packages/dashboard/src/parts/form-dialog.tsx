import { Button, Modal } from "@mantine/core";
import type { ChangeEvent, ReactNode } from "react";
import { Problem } from "./page.tsx";

interface Save<Answer> {
  readonly isPending: boolean;
  readonly error: unknown;
  mutate(input: undefined, then: { readonly onSuccess: (answer: Answer) => void }): void;
}

/** A dialog with fields: it stays open, with the server's words, until what it asks for is done. */
export function FormDialog<Answer>({
  title,
  action,
  save,
  onClose,
  onDone,
  children,
  size = "md",
}: {
  readonly title: string;
  readonly action: string;
  readonly save: Save<Answer>;
  readonly onClose: () => void;
  /** Once it is closed. */
  readonly onDone?: (answer: Answer) => void;
  readonly children: ReactNode;
  readonly size?: string | number;
}) {
  return (
    <Modal opened onClose={onClose} title={title} size={size} closeButtonProps={{ "aria-label": "Close" }}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(undefined, {
            onSuccess: (answer) => {
              onClose();
              onDone?.(answer);
            },
          });
        }}
      >
        {children}
        {save.error ? <Problem error={save.error} /> : null}
        <div className="row end">
          <Button onClick={onClose}>Close</Button>
          <Button type="submit" variant="filled" loading={save.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** The properties of a field of text that holds this value. */
export function holding(value: string, set: (text: string) => void) {
  return {
    value,
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => set(event.currentTarget.value),
  };
}
