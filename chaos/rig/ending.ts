/**
 * What must not outlive the runner, whatever ends it: processes and files, the last that came first. Only what can be
 * done at once, without waiting.
 */
const endings: (() => void)[] = [];

process.once("exit", () => {
  for (const end of endings.reverse()) end();
});

export function endAtExit(end: () => void): void {
  endings.push(end);
}
