import type { Scene } from "../scene.ts";

/** As many fields as a body of the usual limit holds. */
const WIDE = Object.fromEntries(Array.from({ length: 75_000 }, (_, number) => [`f${number}`, 1]));
const ROUTES = ["/v1/auth/magic-link", "/v1/auth/session", `/v1/callbacks/${"f".repeat(64)}`, "/v1/tasks"];

export const scene: Scene = {
  what: "strangers and a free team send JSON of 75,000 fields, as fast as they are answered",
  seconds: 15,
  async prepare(stage) {
    const { key } = await stage.team({ plan: "free" });
    return async (signal) => {
      await Promise.all(
        ROUTES.map(async (path) => {
          while (!signal.aborted)
            await stage.request("POST", path, { body: WIDE, ...(path === "/v1/tasks" && { key }) });
        }),
      );
    };
  },
};
