/** What a scene of this size came to: figures for people, and what went wrong. */
export interface SceneReport {
  readonly lines: readonly string[];
  readonly violations: readonly string[];
  /** Why it could not be played here; null where it was. */
  readonly skipped: string | null;
}

export interface SceneOptions {
  readonly distDir: string;
  readonly say: (line: string) => void;
}

export type Scene = (options: SceneOptions) => Promise<SceneReport>;

/** For a scene that mounts a small file system. */
export const NEEDS_ROOT: SceneReport = {
  lines: [],
  violations: [],
  skipped: "it mounts a small tmpfs, which only root may on Linux",
};

export function mayMount(): boolean {
  return process.platform === "linux" && process.getuid?.() === 0;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Of sorted values; NaN where there are none. */
export function share(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}
