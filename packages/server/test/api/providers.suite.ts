import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { PROVIDER_CATALOG } from "../../src/domain/poll/provider-catalog.ts";
import { createTestApi, type TestApi } from "./test-api.ts";

describe("GET /v1/providers", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const get = (headers: Record<string, string> = {}, url = "/v1/providers") => api.send({ url, headers });

  it("answers the catalog without a credential", async () => {
    const { status, body } = await get();

    assert.equal(status, 200);
    assert.deepEqual(body, { providers: PROVIDER_CATALOG });
    assert.deepEqual(Object.keys(body.providers[0] ?? {}), ["id", "name", "description", "pollConfig"]);
  });

  it("answers 200 although the credential is invalid", async () => {
    for (const headers of [{ authorization: "Bearer nonsense" }, { "x-api-key": "nonsense" }]) {
      assert.equal((await get(headers)).status, 200);
    }
  });

  it("leaves out fields that an entry does not have", async () => {
    const [fal, replicate] = (await get()).body.providers;

    assert.equal("errorPath" in fal.pollConfig, false);
    assert.equal("resultUrlTemplate" in replicate.pollConfig, false);
  });

  it("refuses unknown parameters and other methods", async () => {
    assert.deepEqual((await get({}, "/v1/providers?limit=1")).body, {
      error: 'Unknown field "limit"',
      code: "invalid",
    });
    const post = await api.send({ method: "POST", url: "/v1/providers" });
    assert.deepEqual([post.status, post.headers.allow], [405, "GET, HEAD"]);
  });
});

describe("a custom pollConfig", () => {
  let api: TestApi;
  before(async () => {
    api = await createTestApi();
  });

  const least = {
    urlTemplate: "https://api.example.com/jobs/{startResult.body.id}",
    statusPath: "status",
    doneValues: ["done"],
    failValues: ["failed"],
  };
  const send = (pollConfig: unknown) =>
    api.call("POST", "/v1/tasks", { targetUrl: "https://api.example.com/start", pollConfig });
  const taken = async (pollConfig: unknown) => {
    const { status, body } = await send(pollConfig);
    assert.equal(status, 201);
    return (await api.call("GET", `/v1/tasks/${body.task.id}`)).body.task.pollConfig;
  };
  const refusalOf = async (changes: object) => {
    const { status, body } = await send({ ...least, ...changes });
    assert.equal(status, 400, JSON.stringify(body));
    return body.error;
  };

  it("needs urlTemplate, statusPath, doneValues and failValues; the others have defaults", async () => {
    const defaults = { interval: 5, resultPath: "", forwardAuth: true, maxDuration: 600 };

    assert.deepEqual(await taken(least), { ...least, ...defaults });
    for (const name of Object.keys(least)) {
      const { [name as keyof typeof least]: _, ...rest } = least;
      assert.equal((await send(rest)).body.error, `${name} is required`);
    }
  });

  it("accepts every pollConfig of the catalog", async () => {
    for (const { pollConfig } of PROVIDER_CATALOG) {
      assert.deepEqual(await taken(pollConfig), pollConfig);
    }
  });

  it("refuses unknown fields, wrong types and values out of range, with name and rule", async () => {
    assert.equal(await refusalOf({ intervall: 5 }), 'Unknown field "intervall" (did you mean "interval"?)');
    for (const interval of [0, 0.5, 3601, "5"]) {
      assert.equal(
        await refusalOf({ interval }),
        'pollConfig["interval"] must be a number between 1 and 3600',
      );
    }
    assert.equal(
      await refusalOf({ maxDuration: 86_401 }),
      'pollConfig["maxDuration"] must be a number between 1 and 86400',
    );
    assert.equal(
      await refusalOf({ statusPath: "" }),
      'pollConfig["statusPath"] must be a string of 1 to 256 characters',
    );
    assert.equal(
      await refusalOf({ doneValues: [] }),
      'pollConfig["doneValues"] must be an array of 1 to 50 strings',
    );
    assert.equal(
      await refusalOf({ doneValues: "done" }),
      'pollConfig["doneValues"] must be an array of 1 to 50 strings',
    );
    assert.equal(
      await refusalOf({ failValues: ["a", 7] }),
      'pollConfig["failValues"]["1"] must be a string of 1 to 256 characters',
    );
    assert.equal(await refusalOf({ forwardAuth: "yes" }), 'pollConfig["forwardAuth"] must be true or false');
    assert.equal((await send({ ...least, interval: 1.5, failValues: [] })).status, 201);
  });

  it("refuses a list that is too long before it checks the items", async () => {
    assert.equal(
      await refusalOf({ doneValues: Array(51).fill(0) }),
      'pollConfig["doneValues"] must be an array of at most 50 strings',
    );
    assert.equal(
      await refusalOf({ forwardHeaders: Array(17).fill("x") }),
      'pollConfig["forwardHeaders"] must be an array of at most 16 strings',
    );
    for (const pollConfig of [1, "x", []]) assert.equal((await send(pollConfig)).status, 400);
  });

  it("refuses a urlTemplate with a placeholder as its host", async () => {
    assert.match(
      await refusalOf({ urlTemplate: "https://{startResult.body.host}/" }),
      /^urlTemplate must be a valid http or https URL/,
    );
  });
});
