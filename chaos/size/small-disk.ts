import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { endAtExit } from "../../tools/ending.ts";

/** A file system of so many megabytes in memory: it can be full, and grow. */
export interface SmallDisk {
  readonly path: string;
  resize(megabytes: number): void;
  /** Read-only, or writable again: only while no file on it is open for writing. */
  setReadOnly(readOnly: boolean): void;
  remove(): void;
}

export function mountSmallDisk(path: string, megabytes: number): SmallDisk {
  mkdirSync(path, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0755`, "bellhop-chaos", path]);
  let isMounted = true;
  const remove = () => {
    if (!isMounted) return;
    isMounted = false;
    // Lazily: a process that was killed a moment ago may still hold a file.
    execFileSync("umount", ["--lazy", path]);
  };
  endAtExit(remove);
  const remount = (option: string) => execFileSync("mount", ["-o", `remount,${option}`, path]);
  return {
    path,
    resize: (size) => void remount(`size=${size}m`),
    setReadOnly: (readOnly) => void remount(readOnly ? "ro" : "rw"),
    remove,
  };
}
