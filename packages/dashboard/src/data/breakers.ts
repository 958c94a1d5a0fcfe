import type { AnswerOf } from "@bellhop/sdk";
import { bellhop } from "./client.ts";
import { useList } from "./live.ts";
import { useSandbox } from "./sandbox.ts";

export type Breaker = AnswerOf<"listBreakers">["breakers"][number];

/** The open ones. The sandbox calls no host, so it has none. Not ready: what stands below them would move when they come. */
export function useBreakers(): { readonly isReady: boolean; readonly breakers: readonly Breaker[] } {
  const isSandbox = useSandbox().sandbox !== undefined;
  const list = useList("breakers", bellhop.breakers.list, 5_000);
  return { isReady: !list.isPending, breakers: isSandbox ? [] : (list.data ?? []) };
}
