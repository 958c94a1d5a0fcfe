import { connection } from "../data/connection.ts";
import { live } from "../data/live.ts";

/** Says whether the page follows what happens; a click stops and resumes it. "Live" is the word for tasks outside the sandbox. */
export function LiveDot() {
  const { isPaused } = live.use();
  const { lostSince } = connection.use();
  const state = lostSince === null ? (isPaused ? "paused" : "updating") : "reconnecting";
  return (
    <button
      type="button"
      className="live"
      data-state={state}
      onClick={live.toggle}
      title={isPaused ? "Resume updates (p)" : "Pause updates (p)"}
      aria-pressed={isPaused}
    >
      <i />
      {state}
    </button>
  );
}
