import assert from "node:assert/strict";
import { it } from "node:test";
import { fuzz } from "../../../../chaos/fuzz/fuzz.ts";
import { createTestApi } from "./test-api.ts";

/** `npm run fuzz -- --seed …` looks further, on a real server. */
const SEED = 20_30;

it("answers requests generated from the OpenAPI document as documented, without a 500", async () => {
  const api = await createTestApi();
  const owner = await api.team.signIn("ada", "owner");
  const { violations, statuses } = await fuzz({
    document: (await api.send({ url: "/openapi.json" })).body,
    requests: 600,
    seed: SEED,
    credentials: () => [api.team.key, owner.session],
    async send({ method, path, headers, body }) {
      const {
        status,
        headers: told,
        text,
      } = await api.send({
        method: method as "GET",
        url: path,
        headers,
        ...(body !== null && { payload: body }),
      });
      return { status, contentType: String(told["content-type"] ?? ""), text };
    },
  });
  assert.deepEqual(violations, []);
  // Ids differ from run to run, and with them what is met; of each kind there is some.
  for (const status of [200, 201, 400, 404]) assert.ok(statuses.has(status), `${status}`);
});
