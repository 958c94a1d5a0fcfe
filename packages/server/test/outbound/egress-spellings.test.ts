import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import type { CallFailure } from "../../src/domain/outcome.ts";
import { createEgressGuard } from "../../src/outbound/egress-guard.ts";
import { fenceSockets } from "./egress-fence.ts";
import {
  BAD_ANSWERS,
  NAMES_OF_THIS_MACHINE,
  NOT_A_TARGET,
  OTHER_PLACES,
  PRIVATE_NAMES,
  THIS_MACHINE_IPV4,
  THIS_MACHINE_IPV6,
} from "./egress-spellings.ts";
import { assertFailure, call, listen, newCaller, PATIENT } from "./target.ts";

const { attempts } = fenceSockets();

/** Answers and hangs up, so that every call that arrives is a connection of its own. */
const server = () =>
  createServer((_request, response) => response.writeHead(200, { connection: "close" }).end());
const target = await listen(server());
const sixTarget = await listen(server(), "::1", target.port).catch(() => null);
const connections = () => target.sockets.length + (sixTarget?.sockets.length ?? 0);

const asked: string[] = [];
const lookup = async (hostname: string) => {
  asked.push(hostname);
  return ["127.0.0.1"];
};
const guard = createEgressGuard({ policy: "public", allow: [] });
const strict = newCaller({ guard, lookup });
const open = newCaller({ guard: createEgressGuard({ policy: "any", allow: [] }), lookup });

const at = (spelling: string) => spelling.replaceAll("PORT", String(target.port));
const quote = (spelling: string) => JSON.stringify(spelling);

async function refusal(url: string, caller = strict): Promise<CallFailure> {
  const before = connections();
  const attemptsBefore = attempts.length;
  const outcome = await caller.call(call(url), PATIENT);
  assert.deepEqual(attempts.slice(attemptsBefore), [], "no connection may be tried");
  assert.equal(connections(), before, "nothing may arrive");
  assertFailure(outcome);
  assert.equal(outcome.phase, "not_sent");
  return outcome;
}

async function arrives(url: string): Promise<void> {
  const before = connections();
  await open.call(call(url), PATIENT);
  assert.equal(connections(), before + 1, "under `any` this spelling must lead here, or it proves nothing");
}

describe("the egress policy `public` refuses this machine", () => {
  for (const spelling of THIS_MACHINE_IPV4) {
    it(`spelled ${quote(spelling)}`, async () => {
      const outcome = await refusal(at(spelling));
      assert.equal(outcome.code, "blocked");
      assert.equal(guard.refuseUrl(at(spelling)), "must not point to a private or reserved address");
      await arrives(at(spelling));
    });
  }

  for (const spelling of THIS_MACHINE_IPV6) {
    it(`spelled ${quote(spelling)}`, async () => {
      const outcome = await refusal(at(spelling));
      assert.equal(outcome.code, "blocked");
      assert.equal(guard.refuseUrl(at(spelling)), "must not point to a private or reserved address");
      if (sixTarget !== null) await arrives(at(spelling));
    });
  }

  for (const spelling of PRIVATE_NAMES) {
    it(`by the name ${quote(spelling)}, without a lookup`, async () => {
      const before = asked.length;
      const outcome = await refusal(at(spelling));
      assert.equal(outcome.code, "blocked");
      assert.equal(asked.length, before);
      assert.equal(guard.refuseUrl(at(spelling)), "must not point to a private or reserved address");
      await arrives(at(spelling));
    });
  }

  for (const spelling of NAMES_OF_THIS_MACHINE) {
    it(`by the public name in ${quote(spelling)}, after one lookup`, async () => {
      const before = asked.length;
      const outcome = await refusal(at(spelling));
      assert.equal(outcome.code, "blocked");
      assert.equal(asked.length, before + 1, "one lookup");
      assert.equal(guard.refuseUrl(at(spelling)), null);
      await arrives(at(spelling));
    });
  }
});

describe("the egress policy `public` refuses every other address that is not public", () => {
  for (const spelling of OTHER_PLACES) {
    it(`spelled ${quote(spelling)}`, async () => {
      const outcome = await refusal(at(spelling));
      assert.equal(outcome.code, "blocked");
      assert.equal(guard.refuseUrl(at(spelling)), "must not point to a private or reserved address");
    });
  }
});

describe("a call to a URL that is not http or https is refused", () => {
  for (const spelling of NOT_A_TARGET) {
    it(`such as ${quote(spelling)}`, async () => {
      const outcome = await refusal(at(spelling));
      assert.equal(outcome.code, "invalid_request");
      assert.equal(guard.refuseUrl(at(spelling)), "must be a valid http or https URL");
    });
  }
});

describe("a name is refused for the addresses of its lookup", () => {
  for (const answer of BAD_ANSWERS) {
    it(`such as ${quote(answer.join(" "))}`, async () => {
      const caller = newCaller({ guard, lookup: async () => answer });
      const outcome = await refusal(at("http://public.test:PORT/"), caller);
      assert.equal(outcome.code, "blocked");
      assert.equal(
        outcome.message.replace(/port \d+/, "port N"),
        "The egress policy refuses the call: host public.test is private or reserved, or port N is not for HTTP",
        "no address of ours in it",
      );
    });
  }
});

it("the socket fence counts every connection", () => {
  assert.equal(attempts.length, connections());
});

it("there are at least 300 different cases", () => {
  const urls = [
    ...THIS_MACHINE_IPV4,
    ...THIS_MACHINE_IPV6,
    ...PRIVATE_NAMES,
    ...NAMES_OF_THIS_MACHINE,
    ...OTHER_PLACES,
    ...NOT_A_TARGET,
  ];
  assert.equal(new Set(urls).size, urls.length);
  assert.ok(urls.length + BAD_ANSWERS.length >= 300, `${urls.length}`);
});
