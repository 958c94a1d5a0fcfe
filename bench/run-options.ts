/** What a run of the bench was asked for. */
export interface Options {
  /** Of each variant; 0: what the scenario says, else `usualStarts`. */
  starts: number;
  count: number;
  warmUp: number;
  /** In how many runs: at the end of each its connections are closed. */
  warmUpRuns: number;
  seconds: number;
  /** Empty: all. */
  only: string[];
  scenarios: string[];
  quick: boolean;
  check: boolean;
  /** Peers are given the skeleton's group commit. */
  grouped: boolean;
  json: string;
  /** The pictures of docs/performance.md are drawn from this run. */
  plot: boolean;
  /** Results of earlier runs whose verdicts go into docs/performance.md; nothing is run then. */
  docs: string[];
  /** What the large numbers of rows are multiplied with. */
  scale: number;
  /** A large number of rows, scaled. */
  rows(count: number): number;
}
