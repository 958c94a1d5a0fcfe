import type { MessageOptions } from "./domain-options.ts";

/** Options whose meaning depends on nothing but their text, and that hold no credential. */
const REMEMBERED = new Set([
  "content-type",
  ...["method", "delay", "timeout", "retries", "retry-delay", "label"].map((name) => `upstash-${name}`),
  ...["flow-control-key", "flow-control-value"].map((name) => `upstash-${name}`),
]);
const MOST_KNOWN = 500;
const LONGEST_KEY = 500;

/** The options that were read last, by the text of their headers: a publisher sends the same ones again and again. */
export interface OptionsMemory {
  /** Null if the request has other options. */
  keyOf(rawHeaders: readonly string[]): string | null;
  get(key: string | null, read: () => MessageOptions): MessageOptions;
}

export function createOptionsMemory(): OptionsMemory {
  const known = new Map<string, MessageOptions>();
  return {
    keyOf(rawHeaders) {
      let key = "";
      for (let index = 0; index < rawHeaders.length; index += 2) {
        const raw = rawHeaders[index] ?? "";
        // Most headers are no options: their names need not be put in lower case.
        const first = raw.charCodeAt(0) | 0x20;
        if (first !== 0x63 && first !== 0x75) continue;
        const name = raw.toLowerCase();
        if (name !== "content-type" && !name.startsWith("upstash-")) continue;
        if (name.startsWith("upstash-telemetry-")) continue;
        if (!REMEMBERED.has(name)) return null;
        // No header contains a line break.
        key += `${name}:${rawHeaders[index + 1] ?? ""}\n`;
      }
      return key.length > LONGEST_KEY ? null : key;
    },
    get(key, read) {
      if (key === null) return read();
      const earlier = known.get(key);
      if (earlier !== undefined) return earlier;
      const options = read();
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(key, options);
      return options;
    },
  };
}
