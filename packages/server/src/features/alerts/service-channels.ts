import { invalid, mustBe } from "../../domain/complaint.ts";
import { newUuid } from "../../service/new-uuid.ts";
import type { Sql } from "../../store/sql.ts";
import type { Vault } from "../../vault/vault.ts";
import { type AlertChannel, type NewChannel, showSlackUrl } from "./domain.ts";
import { isShownForm } from "./domain-terms.ts";
import type { StoredAlert } from "./store.ts";
import { insertChannels, moveChannels, readChannelsOf, removeChannels } from "./store-channels.ts";

/**
 * Makes these the channels of an alert. A channel that it has already keeps its id, its undelivered messages and its
 * last result; a Slack URL in its shown form is one of those.
 */
export async function placeChannels(
  { sql, vault }: { readonly sql: Sql; readonly vault: Pick<Vault, "sealText"> },
  { teamId, id: alertId }: StoredAlert,
  notify: readonly NewChannel[],
): Promise<void> {
  const left: AlertChannel[] = await readChannelsOf(sql, teamId, [alertId]);
  const kept: { readonly id: string; readonly position: number }[] = [];
  const added: { readonly channel: NewChannel; readonly position: number }[] = [];
  for (const [position, channel] of notify.entries()) {
    const isKnown = channel.kind !== "slack_url" || isShownForm(channel);
    const at = isKnown
      ? left.findIndex(({ kind, target }) => kind === channel.kind && target === channel.target)
      : -1;
    const [same] = at < 0 ? [] : left.splice(at, 1);
    if (same !== undefined) kept.push({ id: same.id, position });
    else if (isShownForm(channel)) throw invalid([mustBe(`notify[${position}].slack_url`, "the whole URL")]);
    else added.push({ channel, position });
  }
  await removeChannels(
    sql,
    teamId,
    alertId,
    kept.map(({ id }) => id),
  );
  await moveChannels(sql, teamId, kept);
  await insertChannels(
    sql,
    teamId,
    alertId,
    added.map(({ channel: { kind, target }, position }) => {
      const id = newUuid();
      const isSecret = kind === "slack_url";
      return {
        id,
        position,
        kind,
        target: isSecret ? showSlackUrl(target) : target,
        sealed: isSecret ? vault.sealText("alert", teamId, id, target) : null,
      };
    }),
  );
}
