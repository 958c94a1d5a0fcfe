import { Button } from "@mantine/core";
import type { ReactNode } from "react";

/** One of the things that can be done with a row. */
export function RowButton({
  children,
  onClick,
}: {
  readonly children: ReactNode;
  readonly onClick: () => void;
}) {
  return (
    <Button size="compact-xs" onClick={onClick}>
      {children}
    </Button>
  );
}
