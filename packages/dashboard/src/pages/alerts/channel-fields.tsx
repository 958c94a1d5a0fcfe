import { Button, CloseButton, Select, TextInput } from "@mantine/core";
import { type Channel, targetOf } from "../../data/alerts.ts";
import { Icon } from "../../parts/icon.tsx";

const KINDS = [
  { value: "email", label: "Mail" },
  { value: "slackUrl", label: "Slack" },
  { value: "url", label: "Signed URL" },
] as const;
type Kind = (typeof KINDS)[number]["value"];
const PLACEHOLDERS: Readonly<Record<Kind, string>> = {
  email: "The address of a member",
  slackUrl: "https://hooks.slack.com/services/…",
  url: "https://example.com/alerts",
};
const MOST = 10;

export interface ChannelDraft {
  /** Stays the same while the row is edited. */
  readonly key: number;
  readonly kind: Kind;
  readonly target: string;
}

let lastKey = 0;
const newDraft = (kind: Kind, target: string): ChannelDraft => {
  lastKey += 1;
  return { key: lastKey, kind, target };
};

/** At least one row. A Slack URL is in its shown form, which keeps the stored one. */
export function draftsOf(notify: readonly Channel[]): readonly ChannelDraft[] {
  if (notify.length === 0) return [newDraft("email", "")];
  return notify.map((channel) => {
    const kind = channel.email !== undefined ? "email" : channel.url !== undefined ? "url" : "slackUrl";
    return newDraft(kind, targetOf(channel));
  });
}

export function givenOf(channels: readonly ChannelDraft[]) {
  return channels.map(({ kind, target }) => ({ [kind]: target }));
}

export function ChannelFields({
  channels,
  onChange,
}: {
  readonly channels: readonly ChannelDraft[];
  readonly onChange: (channels: readonly ChannelDraft[]) => void;
}) {
  const change = (key: number, fields: Partial<ChannelDraft>) =>
    onChange(channels.map((channel) => (channel.key === key ? { ...channel, ...fields } : channel)));
  return (
    <fieldset className="form" style={{ border: 0, padding: 0, margin: 0 }}>
      <legend className="small muted">Notify</legend>
      {channels.map(({ key, kind, target }, index) => (
        <div key={key} className="row" style={{ gap: 8 }}>
          <Select
            aria-label={`Kind of channel ${index + 1}`}
            allowDeselect={false}
            data={[...KINDS]}
            value={kind}
            onChange={(value) => {
              const chosen = KINDS.find((each) => each.value === value);
              if (chosen !== undefined) change(key, { kind: chosen.value });
            }}
            style={{ width: 120, flexShrink: 0 }}
          />
          <TextInput
            aria-label={`Address of channel ${index + 1}`}
            placeholder={PLACEHOLDERS[kind]}
            required
            value={target}
            onChange={(event) => change(key, { target: event.currentTarget.value })}
            style={{ flex: 1, minWidth: 0 }}
          />
          {channels.length > 1 ? (
            <CloseButton
              aria-label={`Remove channel ${index + 1}`}
              onClick={() => onChange(channels.filter((channel) => channel.key !== key))}
            />
          ) : null}
        </div>
      ))}
      {channels.length < MOST ? (
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<Icon name="plus" size={12} />}
          style={{ alignSelf: "flex-start" }}
          onClick={() => onChange([...channels, newDraft("email", "")])}
        >
          Add a channel
        </Button>
      ) : null}
    </fieldset>
  );
}
