import { Select, Switch } from "@mantine/core";

export interface Order {
  readonly ordered: boolean;
  readonly onFailure: "continue" | "block";
}

/** Whether tasks start in the order of creation, and what happens after one that failed. */
export function StrictOrder({
  value,
  onChange,
}: {
  readonly value: Order;
  readonly onChange: (order: Order) => void;
}) {
  return (
    <>
      <Switch
        label="Strict order"
        description="Tasks start in the order of creation, each when the one before has ended"
        checked={value.ordered}
        onChange={({ currentTarget: { checked } }) => onChange({ ordered: checked, onFailure: "continue" })}
      />
      {value.ordered ? (
        <Select
          label="After a failed task"
          data={[
            { value: "continue", label: "go on with the next" },
            { value: "block", label: "stop until it is retried or dismissed" },
          ]}
          allowDeselect={false}
          value={value.onFailure}
          onChange={(choice) =>
            onChange({ ordered: true, onFailure: choice === "block" ? "block" : "continue" })
          }
        />
      ) : null}
    </>
  );
}
