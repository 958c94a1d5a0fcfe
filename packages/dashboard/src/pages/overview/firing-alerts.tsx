import { Link } from "@tanstack/react-router";
import { conditionText, useAlerts } from "../../data/alerts.ts";
import { Icon } from "../../parts/icon.tsx";
import { toneOf } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";

/** One line while an alert fires; nothing otherwise. */
export function FiringAlerts() {
  const firing = (useAlerts().data ?? []).filter(({ state }) => state === "firing");
  const [first, ...others] = firing;
  if (first === undefined) return null;
  return (
    <div className="health" style={toneOf("failed")} role="status">
      <Icon name="alerts" />
      <Link to="/alerts">
        <span className="wrap">
          Alert {first.name}: {conditionText(first.when)}, for <Ago at={first.since} bare />
        </span>
      </Link>
      {others.length === 0 ? null : <span className="more muted">and {others.length} more</span>}
    </div>
  );
}
