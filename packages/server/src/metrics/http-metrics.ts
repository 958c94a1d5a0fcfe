import { Problem } from "../domain/problem.ts";
import type { Cell, Observe, Series } from "./series.ts";

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LAG_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10];
/** Clients choose methods: those without a route share a label. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);
const STATUS_CLASSES = ["2xx", "3xx", "4xx", "5xx"];
/** A path may contain an id or a secret, and the number of paths is unlimited: those without a route share a label. */
const NO_ROUTE = "none";

const CALLBACK_RESULTS: Readonly<Record<string, string>> = {
  callback_unknown: "unknown",
  callback_not_awaited: "not_awaited",
};

/** The counters of requests to this server. */
export function createHttpMetrics({ counter, histogram }: Series) {
  const requests = counter(
    "bellhop_http_requests_total",
    "Requests answered, by method, pattern of the route and class of the status.",
    ["method", "route", "status"],
  );
  const seconds = histogram(
    "bellhop_http_request_duration_seconds",
    "From the arrival of a request until its answer was sent.",
    REQUEST_SECONDS,
    ["method", "route"],
  );
  const callbacks = counter("bellhop_callbacks_total", "Callbacks received, by what they came to.", [
    "result",
  ]);
  for (const result of ["accepted", "unknown", "not_awaited", "failed"]) callbacks(result);

  const cuts = counter(
    "bellhop_event_streams_cut_total",
    "Streams of events that were cut: slow, their reader did not keep up; failed, what they had missed could not be read.",
    ["reason"],
  );
  for (const reason of ["slow", "failed"]) cuts(reason);

  const jsonJobs = counter(
    "bellhop_json_jobs_total",
    "Large JSON texts that were given to a thread: done, or why they were not read.",
    ["result"],
  );
  for (const result of ["done", "time", "memory", "crowded", "stopped"]) jsonJobs(result);

  const loopLate = histogram(
    "bellhop_event_loop_lag_seconds",
    "By how much the event loop was late at worst, second by second.",
    LAG_SECONDS,
  )();
  const loopSpent = counter(
    "bellhop_event_loop_busy_seconds_total",
    "Seconds that the event loop spent on what teams sent, or had sent to them: request bodies, long answers.",
    ["work"],
  );
  const loopWork = { request: loopSpent("request"), answer: loopSpent("answer") };

  /** By route, method and status class: three lookups of short keys cost less than building a long one. */
  const routes = new Map<string, Map<string, { readonly observe: Observe; readonly cells: Cell[] }>>();

  function find(route: string, method: string) {
    const methods = routes.get(route) ?? new Map();
    routes.set(route, methods);
    const found = {
      observe: seconds(method, route),
      cells: STATUS_CLASSES.map((status) => requests(method, route, status)),
    };
    methods.set(method, found);
    return found;
  }

  return {
    request(method: string, route: string | null, status: number, ms: number) {
      const pattern = route ?? NO_ROUTE;
      const known = METHODS.has(method) ? method : "other";
      const { observe, cells } = routes.get(pattern)?.get(known) ?? find(pattern, known);
      const cell = cells[Math.floor(status / 100) - 2];
      if (cell !== undefined) cell.value += 1;
      observe(ms / 1000);
    },
    loopLate,
    loopSpent(work: "request" | "answer", seconds: number) {
      loopWork[work].value += seconds;
    },
    jsonJob(result: "done" | "time" | "memory" | "crowded" | "stopped") {
      jsonJobs(result).value += 1;
    },
    streamCut(reason: "slow" | "failed") {
      cuts(reason).value += 1;
    },
    async callback<T>(resolving: Promise<T>): Promise<T> {
      try {
        const resolved = await resolving;
        callbacks("accepted").value += 1;
        return resolved;
      } catch (error) {
        const result = error instanceof Problem ? CALLBACK_RESULTS[error.code] : undefined;
        callbacks(result ?? "failed").value += 1;
        throw error;
      }
    },
  };
}
