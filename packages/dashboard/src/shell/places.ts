import { type Role, useSession } from "../data/session.ts";
import { PLACES, type Place } from "./navigation.ts";

const RANKS: readonly Role[] = ["viewer", "member", "admin", "owner"];

/** The places that the signed-in person may enter. */
export function usePlaces() {
  const session = useSession();
  const isOpen = ({ role, operator }: Place) =>
    (operator !== true || session?.isOperator === true) &&
    RANKS.indexOf(session?.role ?? "viewer") >= RANKS.indexOf(role ?? "viewer");
  return PLACES.map(({ title, places }) => ({ title, places: places.filter(isOpen) }));
}
