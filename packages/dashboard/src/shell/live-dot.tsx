import { connection } from "../data/connection.ts";
import { live } from "../data/live.ts";

/** Says whether the page follows what happens; a click stops and resumes it. */
export function LiveDot() {
  const { isPaused } = live.use();
  const { lostSince } = connection.use();
  const state = lostSince === null ? (isPaused ? "paused" : "live") : "reconnecting";
  return (
    <button
      type="button"
      className="live"
      data-state={state}
      onClick={live.toggle}
      title={isPaused ? "Resume (p)" : "Pause (p)"}
      aria-pressed={isPaused}
    >
      <i />
      {state}
    </button>
  );
}
