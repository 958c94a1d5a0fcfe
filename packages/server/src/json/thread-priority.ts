import { setPriority } from "node:os";

/** A thread at this priority gets a quarter of a core that others want too. */
const NICE = 5;

/** Lets the event loop go before the calling thread. Elsewhere than on Linux this would be said of the whole process. */
export function giveWay(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(NICE);
  } catch {
    // Where the process may not change it, they share alike.
  }
}
