import { ActionIcon, Autocomplete, Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { bellhop } from "../../data/client.ts";
import { Icon } from "../../parts/icon.tsx";
import type { HeaderDraft } from "./draft.ts";

/** Headers, one a line. A value may be picked from the vault: then it is put in at the moment of the call. */
export function HeaderFields({
  headers,
  onChange,
}: {
  readonly headers: readonly HeaderDraft[];
  readonly onChange: (headers: readonly HeaderDraft[]) => void;
}) {
  const tokens = useQuery({ queryKey: ["tokens"], queryFn: () => bellhop.tokens.list() });
  const change = (at: number, part: Partial<HeaderDraft>) =>
    onChange(headers.map((header, index) => (index === at ? { ...header, ...part } : header)));
  const names = new Map((tokens.data ?? []).map(({ id, name }) => [id, name]));
  return (
    <div className="stack" style={{ gap: 8 }}>
      {headers.map((header, index) => (
        // A line is known by its place while it is written.
        <div key={index} className="row">
          <TextInput
            aria-label="Name of the header"
            placeholder="Authorization"
            value={header.name}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
          />
          <Autocomplete
            aria-label="Value of the header"
            placeholder="A value, or a token of the vault"
            style={{ flex: 1 }}
            data={[...names.keys()]}
            renderOption={({ option }) => (
              <span className="row">
                <Icon name="vault" size={13} />
                {names.get(option.value)} <span className="small muted mono">{option.value}</span>
              </span>
            )}
            value={header.value}
            onChange={(value) => change(index, { value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Remove the header"
            onClick={() => onChange(headers.filter((_, other) => other !== index))}
          >
            <Icon name="cross" size={13} />
          </ActionIcon>
        </div>
      ))}
      <Button
        size="compact-xs"
        style={{ alignSelf: "flex-start" }}
        onClick={() =>
          onChange([...headers, { name: headers.length === 0 ? "Authorization" : "", value: "" }])
        }
      >
        Add a header
      </Button>
    </div>
  );
}
