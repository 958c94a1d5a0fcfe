import { ApiError } from "@bellhop/sdk";
import { useQuery } from "@tanstack/react-query";
import { pageRequest } from "./client.ts";

export type Role = "viewer" | "member" | "admin" | "owner";

export interface Session {
  readonly person: { readonly id: string; readonly email: string } | null;
  readonly team: { readonly id: string; readonly name: string; readonly plan?: string };
  readonly teams: readonly { readonly id: string; readonly name: string }[];
  readonly role: Role;
  readonly isOperator: boolean;
}

const RANKS: Record<Role, number> = { viewer: 0, member: 1, admin: 2, owner: 3 };

/** Null where nobody is signed in. */
export function useSession() {
  return useQuery({
    queryKey: ["session"],
    queryFn: async () => {
      try {
        return await pageRequest<Session>("/page/session");
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return null;
        throw error;
      }
    },
    staleTime: 60_000,
    refetchInterval: false,
  });
}

/** Whether the signed-in person has this role or a higher one: what one may not do is not offered. */
export function useMay(role: Role): boolean {
  const { data } = useSession();
  return data != null && RANKS[data.role] >= RANKS[role];
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
