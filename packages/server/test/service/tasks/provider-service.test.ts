import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { PROVIDER_CATALOG } from "../../../src/domain/poll/provider-catalog.ts";
import { readProviders } from "../../../src/service/tasks/provider-file.ts";
import { createProviderService } from "../../../src/service/tasks/provider-service.ts";

const POLL_CONFIG = {
  urlTemplate: "https://jobs.example.com/{startResult.body.id}",
  statusPath: "state",
  doneValues: ["ready"],
  failValues: ["broken"],
};
const OWN = { id: "acme", name: "Acme", description: "Our own jobs.", pollConfig: POLL_CONFIG };

const read = (...providers: unknown[]) => readProviders(JSON.stringify({ providers }));

function complaints(source: string): string[] {
  try {
    readProviders(source);
  } catch (error) {
    assert.ok(error instanceof Error);
    const [head, ...lines] = error.message.split("\n  ");
    assert.equal(head, "BELLHOP_PROVIDERS_FILE:");
    return lines;
  }
  return [];
}

const complaintsOf = (...providers: unknown[]) => complaints(JSON.stringify({ providers }));

function withFile<T>(text: string, use: (file: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "bellhop-providers-"));
  try {
    const file = join(directory, "providers.json");
    writeFileSync(file, text);
    return use(file);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe("the provider service", () => {
  it("has the built-in catalog if there is no operator's file", () => {
    const service = createProviderService(null);

    assert.deepEqual(service.list(), PROVIDER_CATALOG);
    assert.equal(service.find("luma")?.name, "Luma AI");
    for (const id of ["", "Luma", "constructor", "__proto__"]) assert.equal(service.find(id), null);
  });

  it("appends the entries of the operator's file to the built-in ones", () => {
    const text = JSON.stringify({ providers: [OWN] });
    const service = withFile(text, createProviderService);

    assert.deepEqual(
      service.list().map(({ id }) => id),
      [...PROVIDER_CATALOG.map(({ id }) => id), "acme"],
    );
    assert.deepEqual(service.find("acme")?.pollConfig, {
      ...POLL_CONFIG,
      interval: 5,
      resultPath: "",
      forwardAuth: true,
      maxDuration: 600,
    });
  });

  it("replaces a built-in entry by one of the same id", () => {
    const text = JSON.stringify({ providers: [{ ...OWN, id: "luma" }] });
    const service = withFile(text, createProviderService);

    assert.equal(service.list().length, 6);
    assert.deepEqual(service.list()[3], service.find("luma"));
    assert.equal(service.find("luma")?.name, "Acme");
  });

  it("names the file that it cannot read", () => {
    assert.throws(() => createProviderService("/nowhere/p.json"), {
      message: "BELLHOP_PROVIDERS_FILE names a file that cannot be read: /nowhere/p.json",
    });
  });
});

describe("the operator's file", () => {
  it("has the format of the API: the built-in catalog is a valid file", () => {
    assert.deepEqual(read(...PROVIDER_CATALOG), PROVIDER_CATALOG);
    assert.deepEqual(read(), []);
  });

  it("must be an object with providers", () => {
    assert.deepEqual(complaints("{"), ["the file is not valid JSON"]);
    assert.deepEqual(complaints("[]"), ["the file must hold an object"]);
    assert.deepEqual(complaints("{}"), ["providers is required"]);
    assert.deepEqual(complaints('{"providers":{}}'), ["providers must be an array of providers"]);
    assert.deepEqual(complaints('{"provider":[]}'), ['provider is not known (did you mean "providers"?)']);
  });

  it("is refused with a list of all mistakes and their positions", () => {
    const { statusPath: _, ...rest } = POLL_CONFIG;
    assert.deepEqual(
      complaintsOf(
        { ...OWN, pollConfig: { ...rest, intervall: 3, interval: 0, doneValues: [], forwardAuth: "yes" } },
        "x",
        { id: "Big", name: "", description: 7, pollConfig: [] },
        {
          ...OWN,
          pollConfig: {
            ...POLL_CONFIG,
            urlTemplate: "https://{startResult.body.host}/",
            failValues: ["ready"],
          },
        },
      ),
      [
        'providers[0].pollConfig.intervall is not known (did you mean "interval"?)',
        "providers[0].pollConfig.interval must be a number between 1 and 3600",
        "providers[0].pollConfig.statusPath is required",
        "providers[0].pollConfig.doneValues must be an array of 1 to 50 strings of 1 to 256 characters",
        "providers[0].pollConfig.forwardAuth must be true or false",
        "providers[1] must be an object",
        "providers[2].id must be 1 to 64 small letters, digits or hyphens",
        "providers[2].name must be a string of 1 to 100 characters",
        "providers[2].description must be a string of 1 to 500 characters",
        "providers[2].pollConfig must be an object",
        "providers[3].pollConfig.urlTemplate must be a valid http or https URL with variables behind its host only, " +
          "or one variable alone",
        'providers[3].pollConfig.failValues must not repeat "ready" of doneValues',
      ],
    );
  });

  it("is refused with a duplicate id", () => {
    assert.deepEqual(complaintsOf(OWN, { ...OWN, id: "other" }, OWN), ['providers[2].id repeats "acme"']);
  });
});
