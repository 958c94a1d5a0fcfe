import { formatId } from "../../domain/public-id.ts";
import type { Alert } from "./domain.ts";
import type * as schemas from "./schemas.ts";

export function alertView(alert: Alert): schemas.Alert {
  const { kind, queue, threshold, within } = alert.when;
  return {
    id: formatId("alr", alert.id),
    name: alert.name,
    when: { kind, queue, threshold, within, for: alert.when.for },
    notify: alert.notify.map((channel) => ({
      [channel.kind]: channel.target,
      last_error: channel.lastError,
      last_sent_at: channel.lastSentAt?.toISOString() ?? null,
    })),
    enabled: alert.enabled,
    state: alert.state,
    value: alert.value,
    since: alert.heldSince?.toISOString() ?? null,
    last_fired_at: alert.lastFiredAt?.toISOString() ?? null,
    created_at: alert.createdAt.toISOString(),
    updated_at: alert.updatedAt.toISOString(),
  };
}
