import { readStdin } from "./option-values.ts";

const ENTER = /[\r\n]/;
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const ERASE = /[\u007f\b]/;

/**
 * A secret, piped in or entered at a prompt that does not show it. Never an argument: arguments stay in the shell's
 * history, and ps shows them to every user.
 */
export async function readSecret(prompt: string): Promise<string> {
  const secret = process.stdin.isTTY ? await askHidden(prompt) : (await readStdin()).replace(/\r?\n$/, "");
  if (secret === "") throw new Error(`${prompt} is empty: type it, or pipe it in`);
  return secret;
}

function askHidden(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(`${prompt} (not shown): `);
  stdin.setRawMode(true);
  stdin.setEncoding("utf8");
  return new Promise((resolve, reject) => {
    let typed = "";
    const end = (settle: () => void) => {
      stdin.off("data", onData);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write("\n");
      settle();
    };
    function onData(text: string) {
      for (const letter of text) {
        if (letter === CTRL_C) return end(() => reject(new Error("Given up")));
        if (ENTER.test(letter) || letter === CTRL_D) return end(() => resolve(typed));
        typed = ERASE.test(letter) ? typed.slice(0, -1) : typed + letter;
      }
    }
    stdin.on("data", onData);
    stdin.resume();
  });
}
