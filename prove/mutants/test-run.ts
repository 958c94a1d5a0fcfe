import { join } from "node:path";
import { type Ran, runCommand } from "../../tools/run-command.ts";
import { type Catch, NO_END } from "../stages.ts";

/** A test file that failed says where it is. */
const FAILED = /^ *not ok \d+ - (.*)$/m;
const PLACE = /^ *location: '/;

/** Runs one compiled test file, or one that loads several, until a test fails. */
export function runTestFile(options: {
  readonly directory: string;
  /** Below `.build` in the directory. */
  readonly entry: string;
  readonly seconds: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}): Promise<Ran> {
  const { directory, entry, seconds, args = [], env = {} } = options;
  return runCommand({
    command: process.execPath,
    args: [...args, "--test-reporter=tap", join(".build", entry)],
    cwd: directory,
    seconds,
    // A test of this would have its own report in the form that its runner reads.
    env: { ...env, NODE_TEST_CONTEXT: "" },
    isEnough: (line) => PLACE.test(line),
  });
}

/** What a run says against the code; null where it says nothing. */
export function failureIn({ code, output, isLate }: Ran): Catch {
  const name = FAILED.exec(output)?.[1];
  if (name !== undefined) return name.replaceAll("\\#", "#");
  if (isLate) return NO_END;
  return code === 0 ? null : `ends with ${code}`;
}

/** Where a test file is after the compiler. */
export function compiledTest(test: string): string {
  return test.replace(/ts$/, "js");
}
