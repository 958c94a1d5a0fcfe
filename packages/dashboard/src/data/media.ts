import { useSyncExternalStore } from "react";

/** A hook that tells whether the browser's window is like this, now. */
export function createMedia(condition: string): () => boolean {
  const query = window.matchMedia(condition);
  const subscribe = (listener: () => void) => {
    query.addEventListener("change", listener);
    return () => query.removeEventListener("change", listener);
  };
  return () => useSyncExternalStore(subscribe, () => query.matches);
}

export const useSystemDark = createMedia("(prefers-color-scheme: dark)");

/** The same width as in the stylesheets. */
export const useIsPhone = createMedia("(max-width: 900px)");
