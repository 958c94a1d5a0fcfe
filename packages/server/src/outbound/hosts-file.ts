import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { trimHostname } from "./host-name.ts";

/** How long the parsed file is valid: an edit takes effect after this time. */
const FRESH_MS = 5_000;

const SYSTEM_HOSTS =
  process.platform === "win32"
    ? `${process.env.SystemRoot ?? "C:\\Windows"}\\System32\\drivers\\etc\\hosts`
    : "/etc/hosts";

export interface HostsFile {
  /** The addresses that the file gives a name, in its order; none where it does not know the name. */
  find(name: string): Promise<readonly string[]>;
}

/** The machine's hosts file, which a DNS client does not read. An unreadable file has no names. */
export function createHostsFile(nowMs: () => number, path = SYSTEM_HOSTS): HostsFile {
  let reading: Promise<ReadonlyMap<string, readonly string[]>> | null = null;
  let readAtMs = 0;
  return {
    async find(name) {
      if (reading === null || nowMs() - readAtMs >= FRESH_MS) {
        readAtMs = nowMs();
        reading = readFile(path, "utf8").then(parseHosts, () => new Map());
      }
      return (await reading).get(name) ?? [];
    },
  };
}

export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    // fe80::1%lo0 and the like: no call goes to an address that needs a network card beside it.
    if (isIP(address) === 0 || address.includes("%")) continue;
    for (const name of names.map((each) => trimHostname(each.toLowerCase()))) {
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return byName;
}
