import type { Profile, Profiles } from "./profiles.ts";

export const DEFAULT_URL = "http://127.0.0.1:8787";

export interface Chosen extends Profile {
  /** The profile or variable that it came from, for messages. */
  readonly from: string;
}

/**
 * Chooses the server and key of a command: the profile of --profile, then BELLHOP_URL and BELLHOP_API_KEY, then the current
 * profile. A stored key is sent only to the server that it was stored with.
 */
export function chooseServer(
  { BELLHOP_URL, BELLHOP_API_KEY }: Readonly<Record<string, string | undefined>>,
  { current, profiles }: Profiles,
  wanted: string | undefined,
): Chosen {
  const name = wanted ?? current;
  const profile = name !== null && Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (wanted !== undefined && profile === undefined)
    throw new Error(`There is no profile "${wanted}"; bellhop profile lists them`);
  if (wanted !== undefined && profile !== undefined) return { ...profile, from: `the profile ${wanted}` };
  if (BELLHOP_API_KEY)
    return {
      url: BELLHOP_URL || profile?.url || DEFAULT_URL,
      apiKey: BELLHOP_API_KEY,
      from: "BELLHOP_API_KEY",
    };
  if (profile === undefined)
    throw new Error("No API key is configured: run bellhop login, or set BELLHOP_URL and BELLHOP_API_KEY");
  if (BELLHOP_URL && withoutSlash(BELLHOP_URL) !== withoutSlash(profile.url))
    throw new Error(
      `BELLHOP_URL names another server than the profile ${name}, so its key is not sent there: set BELLHOP_API_KEY too`,
    );
  return { ...profile, from: `the profile ${name}` };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
