import { setPriority } from "node:os";

/** A thread at this priority gets a quarter of a core that others want too. */
const NICE = 5;

/** Gives the event loop priority over the calling thread. Outside Linux this would change the whole process. */
export function giveWay(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(NICE);
  } catch {
    // Without the permission they have the same priority.
  }
}
