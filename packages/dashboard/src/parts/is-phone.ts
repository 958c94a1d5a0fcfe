import { useSyncExternalStore } from "react";

/** The same width as in the stylesheets. */
const query = window.matchMedia("(max-width: 900px)");

function subscribe(listener: () => void) {
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

export function useIsPhone(): boolean {
  return useSyncExternalStore(subscribe, () => query.matches);
}
