import { ROLES, useSession } from "../data/session.ts";
import { PLACES, type Place } from "./navigation.ts";

/** The places that the signed-in person may enter. */
export function usePlaces() {
  const session = useSession();
  const isOpen = ({ role, operator }: Place) =>
    (operator !== true || session?.isOperator === true) &&
    ROLES.indexOf(session?.role ?? "viewer") >= ROLES.indexOf(role ?? "viewer");
  return PLACES.map(({ title, places }) => ({ title, places: places.filter(isOpen) }));
}
