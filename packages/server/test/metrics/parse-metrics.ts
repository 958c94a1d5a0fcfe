import assert from "node:assert/strict";

export interface Family {
  readonly type: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scrape {
  readonly families: ReadonlyMap<string, Family>;
  /** Of the one sample with this name and these labels. */
  value(name: string, labels?: Record<string, string>): number;
  /** All values that a label has anywhere. */
  labelValues(label: string): Set<string>;
}

const HELP = /^# HELP ([a-zA-Z_:][\w:]*) \S.*$/;
const TYPE = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary)$/;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;

/** Reads the text format of Prometheus as narrowly as its definition allows: whatever a scraper might stumble over throws. */
export function parseMetrics(text: string): Scrape {
  assert.ok(text.endsWith("\n"), "the last line ends");
  const families = new Map<string, { type: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let helped = "";
  let current = "";
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, help] = HELP.exec(line) ?? [];
    const [, typed, type = ""] = TYPE.exec(line) ?? [];
    if (help !== undefined) helped = help;
    else if (typed !== undefined) {
      assert.equal(typed, helped, "every type follows its help");
      assert.ok(!families.has(typed), `${typed} comes once`);
      families.set(typed, { type, samples: [] });
      current = typed;
    } else {
      const sample = parseSample(line);
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
      assert.ok(!seen.has(key), `twice: ${line}`);
      seen.add(key);
      const family = families.get(current);
      assert.ok(family !== undefined && belongs(sample.name, current, family.type), `out of place: ${line}`);
      family.samples.push(sample);
    }
  }
  for (const [name, family] of families) checkFamily(name, family);
  const all = [...families.values()].flatMap(({ samples }) => samples);
  return {
    families,
    value(name, labels = {}) {
      const found = all.filter((sample) => sample.name === name && isSame(sample.labels, labels));
      assert.equal(found.length, 1, `${name} ${JSON.stringify(labels)} is there once`);
      return found[0]?.value ?? Number.NaN;
    },
    labelValues: (label) => new Set(all.flatMap(({ labels }) => labels[label] ?? [])),
  };
}

function parseSample(line: string): Sample {
  const [, name = "", inner = "", number = ""] = SAMPLE.exec(line) ?? [];
  assert.notEqual(name, "", `not a sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let rest = inner; rest !== ""; ) {
    const [whole = "", label = "", value = ""] = LABEL.exec(rest) ?? [];
    assert.notEqual(whole, "", `not a label: ${rest}`);
    assert.ok(!(label in labels), `a label twice: ${line}`);
    labels[label] = value.replace(/\\(.)/g, (_, escaped) => (escaped === "n" ? "\n" : escaped));
    rest = rest.slice(whole.length);
  }
  const value = number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number);
  assert.ok(number === "NaN" || !Number.isNaN(value), `not a number: ${line}`);
  return { name, labels, value };
}

function belongs(sample: string, family: string, type: string): boolean {
  if (type === "histogram") return ["_bucket", "_sum", "_count"].some((end) => sample === `${family}${end}`);
  return sample === family;
}

function checkFamily(name: string, { type, samples }: Family): void {
  if (type === "counter") {
    assert.match(name, /_total$/);
    for (const { value } of samples) assert.ok(value >= 0, name);
  }
  if (type !== "histogram") return;
  const spreads = new Map<string, { last: number; le: number; count: number }>();
  for (const sample of samples) {
    const { le, ...labels } = sample.labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    const spread = spreads.get(key) ?? { last: 0, le: Number.NEGATIVE_INFINITY, count: -1 };
    spreads.set(key, spread);
    if (sample.name.endsWith("_bucket")) {
      const bound = le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le);
      assert.ok(bound > spread.le && sample.value >= spread.last, `${name} ${key}: buckets rise`);
      Object.assign(spread, { le: bound, last: sample.value });
    } else if (sample.name.endsWith("_count")) spread.count = sample.value;
  }
  for (const [key, { last, le, count }] of spreads) {
    assert.equal(le, Number.POSITIVE_INFINITY, `${name} ${key}`);
    assert.equal(last, count, `${name} ${key}: the last bucket holds all`);
  }
}

function isSame(labels: Readonly<Record<string, string>>, others: Readonly<Record<string, string>>): boolean {
  const names = new Set([...Object.keys(labels), ...Object.keys(others)]);
  return [...names].every((name) => labels[name] === others[name]);
}
