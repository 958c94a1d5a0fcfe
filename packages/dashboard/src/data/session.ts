import { useQuery } from "@tanstack/react-query";
import { pageRequest } from "./client.ts";

export const ROLES = ["viewer", "member", "admin", "owner"] as const;
export type Role = (typeof ROLES)[number];

export interface Session {
  readonly person: { readonly id: string; readonly email: string } | null;
  readonly team: { readonly id: string; readonly name: string; readonly plan: string };
  readonly teams: readonly { readonly id: string; readonly name: string }[];
  readonly role: Role;
  readonly isOperator: boolean;
  readonly version: string;
}

/** How a person who is not signed in gets a link. */
export interface SignInWays {
  readonly mail: boolean;
  readonly linkInLog: boolean;
  /** This browser shows a session that no longer counts: it ran out, or was ended. */
  readonly hadSession: boolean;
}

export type Known = { readonly session: Session } | { readonly signIn: SignInWays };

export function useKnown() {
  return useQuery({
    queryKey: ["session"],
    queryFn: async (): Promise<Known> => {
      const answer = await pageRequest<Session | { readonly signIn: SignInWays }>("/page/session", {}, [401]);
      return "team" in answer ? { session: answer } : { signIn: answer.signIn };
    },
    staleTime: 60_000,
    refetchInterval: false,
  });
}

/** Null where nobody is signed in, or it is not known yet. */
export function useSession(): Session | null {
  const { data } = useKnown();
  return data !== undefined && "session" in data ? data.session : null;
}

/** Whether the signed-in person has this role or a higher one: what one may not do is not offered. */
export function useMay(role: Role): boolean {
  const session = useSession();
  return session !== null && ROLES.indexOf(session.role) >= ROLES.indexOf(role);
}

const WANTED = "bellhop.wanted";
/** Longer than a link is good for. */
const WANTED_MS = 3_600_000;

/** Keeps in this browser which page the reader wanted, who has to sign in first. */
export function keepWanted(): void {
  const { pathname, search } = window.location;
  window.localStorage.setItem(WANTED, JSON.stringify([Date.now(), pathname + search]));
}

/** The page that was wanted, once; null where none was. A sign-in leads to the overview: any other page is one by itself. */
export function takeWanted(): string | null {
  const kept = window.localStorage.getItem(WANTED);
  window.localStorage.removeItem(WANTED);
  const [at, path] = JSON.parse(kept ?? "[]") as [number?, string?];
  if (at === undefined || path === undefined || Date.now() - at > WANTED_MS) return null;
  const isHome = window.location.pathname + window.location.search === "/";
  return isHome && /^\/[^/]/.test(path) ? path : null;
}

export async function endSession(): Promise<void> {
  await pageRequest("/page/session/end", { method: "POST" });
  window.location.assign("/");
}

export async function switchTeam(team: string): Promise<void> {
  await pageRequest("/page/session/team", { method: "POST", body: JSON.stringify({ team }) });
  // Nothing of the other team may stay on the page.
  window.location.assign("/");
}
