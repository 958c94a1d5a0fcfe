import { Button, Modal } from "@mantine/core";
import { Copy } from "./copy.tsx";

/** A secret in the only moment in which it is known. Closing it takes a click on purpose. */
export function Once({
  title,
  secret,
  note,
  onClose,
}: {
  readonly title: string;
  readonly secret: string;
  readonly note: string;
  readonly onClose: () => void;
}) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <div className="form">
        <p>{note}</p>
        <div className="once">
          <code>{secret}</code>
          <span>
            <Copy text={secret} />
          </span>
        </div>
        <div className="row end">
          <Button variant="filled" onClick={onClose}>
            I have stored it
          </Button>
        </div>
      </div>
    </Modal>
  );
}
