import { readOptions, readOrExit } from "../tools/options.ts";
import type { Protocol } from "./engine/protocol.ts";
import { PROTOCOLS } from "./protocols/all.ts";

const names = PROTOCOLS.map(({ name }) => name);
const usage = `npm run explore -- [options]

  --protocol a,b   these alone, of ${names.join(", ")}
  --bound n        faults in one path; by default as many as end within a minute, and fewer with a bug
  --bug name       with this bug alone; by default with none, and then with each
`;

function readArguments(args: string[]) {
  const given = readOptions(args, { protocol: "text", bound: "text", bug: "text" });
  return {
    protocols: given.names("protocol", names),
    bound:
      given.text("bound") === null ? null : given.number("bound", { initial: 1, max: 20, isWhole: true }),
    bug: given.text("bug"),
  };
}

/** Whether everything holds without a bug, and does not with each. */
function exploreAll(protocol: Protocol, given: { bound: number | null; bug: string | null }): boolean {
  const { name, about, bugs, bounds } = protocol;
  console.log(`${name}: ${about}`);
  const tries = given.bug === null ? [null, ...Object.keys(bugs)] : [given.bug];
  let isGood = true;
  for (const bug of tries) {
    const bound = given.bound ?? (bug === null ? bounds.usual : bounds.least);
    const beganMs = performance.now();
    const { states, steps, trace } = protocol.explore(bound, bug);
    const seconds = ((performance.now() - beganMs) / 1000).toFixed(1);
    const size = `${states} states, ${steps} steps, ${bound} faults, ${seconds} s`;
    isGood &&= (trace === null) === (bug === null);
    console.log(
      bug === null
        ? `  without a bug: ${trace === null ? "everything holds" : "BROKEN"} (${size})`
        : `  ${bug}, ${bugs[bug]}: ${trace === null ? "NOT FOUND" : "found"} (${size})`,
    );
    for (const [index, step] of (trace?.steps ?? []).entries()) console.log(`    ${index + 1}. ${step}`);
    if (trace !== null) console.log(`    ${trace.wrong}`);
  }
  return isGood;
}

const { protocols, ...given } = readOrExit(usage, readArguments);
const named = PROTOCOLS.filter(({ name }) => protocols?.includes(name) ?? true);
const chosen = named.filter(({ bugs }) => given.bug === null || given.bug in bugs);
if (chosen.length === 0) console.error(`No protocol has the bug "${given.bug}"`);
const isGood = chosen.map((each) => exploreAll(each, given)).every(Boolean);
process.exitCode = isGood && chosen.length > 0 ? 0 : 1;
