import { request } from "undici";
import type { Scene } from "../scene.ts";

/** As many fields as a body of the usual limit holds. Made once: the attack must cost the attacker little. */
const FIELDS = Array.from({ length: 75_000 }, (_, number) => `"f${number}":1`);
const WIDE = Buffer.from(`{${FIELDS.join()}}`);
const ROUTES = ["/v1/auth/magic-link", "/v1/auth/session", `/v1/callbacks/${"f".repeat(64)}`, "/v1/tasks"];

export const scene: Scene = {
  what: "strangers send JSON of 75,000 fields to routes with and without a credential, as fast as they are answered",
  seconds: 15,
  prepare: async (stage) => async (signal) => {
    const headers = { "content-type": "application/json" };
    await Promise.all(
      ROUTES.map(async (path) => {
        while (!signal.aborted) {
          const sent = request(`${stage.url}${path}`, { method: "POST", headers, body: WIDE });
          // Refused before all of it was sent, now and then: that is as it should be.
          await sent.then(({ body }) => body.dump()).catch(() => {});
        }
      }),
    );
  },
};
