/**
 * What must not outlive the runner, whatever ends it: processes and files, the last that came first. Only what can be
 * done at once, without waiting.
 */
const endings: (() => void)[] = [];

// Every time, not once: a runner below npm gets Ctrl-C twice, and the second must not end it in the middle of this.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));

process.once("exit", () => {
  for (const end of endings.reverse()) {
    try {
      end();
    } catch (error) {
      console.error(error);
    }
  }
});

export function endAtExit(end: () => void): void {
  endings.push(end);
}
