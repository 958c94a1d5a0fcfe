import type { Role } from "../data/session.ts";
import type { IconName } from "../parts/icon.tsx";

export interface Place {
  readonly to: string;
  readonly title: string;
  readonly icon: IconName;
  /** Typed after `g`. */
  readonly letter: string;
  readonly role?: Role;
  readonly operator?: boolean;
}

export const PLACES: readonly { readonly title: string; readonly places: readonly Place[] }[] = [
  {
    title: "Operate",
    places: [
      { to: "/", title: "Overview", icon: "overview", letter: "o" },
      { to: "/queues", title: "Queues", icon: "queues", letter: "q" },
      { to: "/tasks", title: "Tasks", icon: "tasks", letter: "t" },
      { to: "/failures", title: "Failures", icon: "failures", letter: "f" },
      { to: "/flows", title: "Flows", icon: "flows", letter: "x" },
      { to: "/bulk-actions", title: "Bulk actions", icon: "retry", letter: "b" },
      { to: "/alerts", title: "Alerts", icon: "alerts", letter: "l" },
    ],
  },
  {
    title: "Build",
    places: [
      { to: "/new", title: "New task", icon: "plus", letter: "n", role: "member" },
      { to: "/schedules", title: "Schedules", icon: "schedules", letter: "s" },
      { to: "/vault", title: "Vault", icon: "vault", letter: "v" },
      { to: "/providers", title: "Providers", icon: "providers", letter: "p" },
      { to: "/subscriptions", title: "Subscriptions", icon: "subscriptions", letter: "w" },
    ],
  },
  {
    title: "Access",
    places: [
      { to: "/keys", title: "API keys", icon: "key", letter: "k", role: "member" },
      { to: "/applications", title: "OAuth applications", icon: "applications", letter: "a" },
      { to: "/team", title: "Team", icon: "team", letter: "m" },
      { to: "/audit", title: "Audit", icon: "audit", letter: "u", role: "admin" },
      { to: "/system", title: "System", icon: "system", letter: "y", operator: true },
    ],
  },
];
