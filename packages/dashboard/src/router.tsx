import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from "@tanstack/react-router";
import { readRange } from "./data/ranges.ts";
import { readSandbox } from "./data/sandbox.ts";
import { readTaskSearch } from "./data/task-search.ts";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({
  component: Shell,
  validateSearch: readSandbox,
  search: { middlewares: [retainSearchParams(["sandbox"])] },
  notFoundComponent: lazyRouteComponent(() => import("./pages/not-found.tsx"), "NotFound"),
});

const at = <const Path extends string>(path: Path) => ({ getParentRoute: () => root, path });
const ranged = { validateSearch: readRange };

const tree = root.addChildren([
  createRoute({
    ...at("/"),
    ...ranged,
    component: lazyRouteComponent(() => import("./pages/overview.tsx"), "Overview"),
  }),
  createRoute({
    ...at("/queues"),
    component: lazyRouteComponent(() => import("./pages/queues.tsx"), "Queues"),
  }),
  createRoute({
    ...at("/queues/$name"),
    ...ranged,
    component: lazyRouteComponent(() => import("./pages/queue.tsx"), "QueuePage"),
  }),
  createRoute({
    ...at("/tasks"),
    validateSearch: readTaskSearch,
    component: lazyRouteComponent(() => import("./pages/tasks.tsx"), "Tasks"),
  }),
  createRoute({
    ...at("/tasks/$id"),
    component: lazyRouteComponent(() => import("./pages/task.tsx"), "TaskPage"),
  }),
  createRoute({
    ...at("/failures"),
    ...ranged,
    component: lazyRouteComponent(() => import("./pages/failures.tsx"), "Failures"),
  }),
  createRoute({
    ...at("/new"),
    validateSearch: ({ from, queue }: Record<string, unknown>): { from?: string; queue?: string } => ({
      ...(typeof from === "string" ? { from } : {}),
      ...(typeof queue === "string" ? { queue } : {}),
    }),
    component: lazyRouteComponent(() => import("./pages/new-task.tsx"), "NewTaskPage"),
  }),
  createRoute({
    ...at("/bulk-actions"),
    component: lazyRouteComponent(() => import("./pages/bulk-actions.tsx"), "BulkActions"),
  }),
  createRoute({
    ...at("/schedules"),
    component: lazyRouteComponent(() => import("./pages/schedules.tsx"), "Schedules"),
  }),
  createRoute({
    ...at("/schedules/$name"),
    component: lazyRouteComponent(() => import("./pages/schedule.tsx"), "SchedulePage"),
  }),
  createRoute({
    ...at("/vault"),
    component: lazyRouteComponent(() => import("./pages/vault.tsx"), "Vault"),
  }),
  createRoute({
    ...at("/providers"),
    component: lazyRouteComponent(() => import("./pages/providers.tsx"), "Providers"),
  }),
  createRoute({
    ...at("/keys"),
    validateSearch: ({ new: isNew }: Record<string, unknown>): { new?: string } =>
      isNew === "true" ? { new: isNew } : {},
    component: lazyRouteComponent(() => import("./pages/keys.tsx"), "ApiKeys"),
  }),
  createRoute({
    ...at("/team"),
    component: lazyRouteComponent(() => import("./pages/team.tsx"), "TeamPage"),
  }),
  createRoute({
    ...at("/applications"),
    component: lazyRouteComponent(() => import("./pages/applications.tsx"), "Applications"),
  }),
  createRoute({
    ...at("/audit"),
    component: lazyRouteComponent(() => import("./pages/audit.tsx"), "Audit"),
  }),
  createRoute({
    ...at("/system"),
    component: lazyRouteComponent(() => import("./pages/system.tsx"), "System"),
  }),
  createRoute({
    ...at("/flows"),
    validateSearch: ({ sandbox, search }: Record<string, unknown>) => ({
      ...readSandbox({ sandbox }),
      ...(typeof search === "string" && search !== "" && { search }),
    }),
    component: lazyRouteComponent(() => import("./pages/flows.tsx"), "Flows"),
  }),
  createRoute({
    ...at("/alerts"),
    component: lazyRouteComponent(() => import("./pages/alerts.tsx"), "Alerts"),
  }),
  createRoute({
    ...at("/subscriptions"),
    component: lazyRouteComponent(() => import("./pages/subscriptions.tsx"), "Subscriptions"),
  }),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: "intent",
  scrollRestoration: true,
  // Addresses as people write them: every value is text.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(
      Object.entries(search).flatMap(([name, value]) =>
        value === undefined || value === "" ? [] : [[name, String(value)]],
      ),
    ).toString();
    return text === "" ? "" : `?${text}`;
  },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
