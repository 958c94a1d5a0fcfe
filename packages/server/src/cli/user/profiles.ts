import { chmod, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

export interface Profile {
  readonly url: string;
  readonly apiKey: string;
}

export interface Profiles {
  /** The name of the default profile. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function profilesFile({ XDG_CONFIG_HOME, HOME }: Environment): string {
  return join(XDG_CONFIG_HOME || join(HOME || homedir(), ".config"), "bellhop", "profiles.json");
}

export async function readProfiles(file: string): Promise<Profiles> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return { current: null, profiles: {} };
  // A key file that other users can read is refused, so that its owner notices.
  if (((await stat(file)).mode & 0o077) !== 0)
    throw new Error(`${file} contains API keys and others can read it: chmod 600 ${file}`);
  const found = parse(text);
  if (found === null) throw new Error(`${file} is damaged: remove it, and run bellhop login again`);
  return found;
}

/** Written atomically, and never readable by others. */
export async function writeProfiles(file: string, profiles: Profiles): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.${process.pid}`;
  await writeFile(beside, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  await chmod(beside, 0o600);
  await rename(beside, file);
}

function parse(text: string): Profiles | null {
  try {
    const { current, profiles } = JSON.parse(text);
    const isWhole = Object.values<Partial<Profile>>(profiles).every(
      ({ url, apiKey }) => typeof url === "string" && typeof apiKey === "string",
    );
    return isWhole ? { current: typeof current === "string" ? current : null, profiles } : null;
  } catch {
    return null;
  }
}
