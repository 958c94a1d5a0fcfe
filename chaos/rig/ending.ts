/** What must not outlive the runner, whatever ends it. Only what can be done at once, without waiting. */
const endings: (() => void)[] = [];

process.once("exit", () => {
  for (const end of endings) end();
});

export function endAtExit(end: () => void): void {
  endings.push(end);
}
