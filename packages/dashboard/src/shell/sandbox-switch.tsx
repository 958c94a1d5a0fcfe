import { SegmentedControl } from "@mantine/core";
import { useMatches, useNavigate } from "@tanstack/react-router";
import { useSandbox } from "../data/sandbox.ts";

/** The pages that show tasks or count them; the others are the same for both. */
const PLACES: readonly string[] = ["/", "/queues", "/queues/$name", "/tasks", "/failures"];

/** Live tasks, or those of test keys. */
export function SandboxSwitch() {
  const navigate = useNavigate();
  const { sandbox = "false" } = useSandbox();
  const place: string = useMatches().at(-1)?.fullPath ?? "";
  if (!PLACES.includes(place)) return null;
  return (
    <SegmentedControl
      aria-label="Which tasks"
      className="sandbox-switch"
      data-sandbox={sandbox}
      value={sandbox}
      onChange={(value) =>
        void navigate({
          to: ".",
          search: (search: object) => ({ ...search, sandbox: value === "true" ? value : undefined }),
          replace: true,
        })
      }
      data={[
        { value: "false", label: "Live" },
        { value: "true", label: "Sandbox" },
      ]}
    />
  );
}
