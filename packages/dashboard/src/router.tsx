import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { readRange } from "./data/ranges.ts";
import { readTaskSearch } from "./data/task-search.ts";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: lazyRouteComponent(() => import("./pages/not-found.tsx"), "NotFound"),
});

const ranged = { validateSearch: readRange };

const tree = root.addChildren([
  createRoute({
    getParentRoute: () => root,
    path: "/",
    ...ranged,
    component: lazyRouteComponent(() => import("./pages/overview.tsx"), "Overview"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/queues",
    component: lazyRouteComponent(() => import("./pages/queues.tsx"), "Queues"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/queues/$name",
    ...ranged,
    component: lazyRouteComponent(() => import("./pages/queue.tsx"), "QueuePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/tasks",
    validateSearch: readTaskSearch,
    component: lazyRouteComponent(() => import("./pages/tasks.tsx"), "Tasks"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/tasks/$id",
    component: lazyRouteComponent(() => import("./pages/task.tsx"), "TaskPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/failures",
    ...ranged,
    component: lazyRouteComponent(() => import("./pages/failures.tsx"), "Failures"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/new",
    validateSearch: ({ from, queue }: Record<string, unknown>): { from?: string; queue?: string } => ({
      ...(typeof from === "string" ? { from } : {}),
      ...(typeof queue === "string" ? { queue } : {}),
    }),
    component: lazyRouteComponent(() => import("./pages/new-task.tsx"), "NewTaskPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/schedules",
    component: lazyRouteComponent(() => import("./pages/schedules.tsx"), "Schedules"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/vault",
    component: lazyRouteComponent(() => import("./pages/vault.tsx"), "Vault"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/providers",
    component: lazyRouteComponent(() => import("./pages/providers.tsx"), "Providers"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/keys",
    component: lazyRouteComponent(() => import("./pages/keys.tsx"), "ApiKeys"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/team",
    component: lazyRouteComponent(() => import("./pages/team.tsx"), "TeamPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/applications",
    component: lazyRouteComponent(() => import("./pages/applications.tsx"), "Applications"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/audit",
    component: lazyRouteComponent(() => import("./pages/audit.tsx"), "Audit"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/system",
    component: lazyRouteComponent(() => import("./pages/system.tsx"), "System"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/subscriptions",
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
