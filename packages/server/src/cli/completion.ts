import { Argument, type Command } from "commander";

export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description('print what a shell needs to complete commands: eval "$(bellhop completion bash)"')
    .addArgument(new Argument("<shell>").choices(["bash"]))
    .action(() => {
      process.stdout.write(bashCompletion(program));
    });
}

/** One case for each command, with its subcommands and options; the words that begin with a dash are not part of its name. */
function bashCompletion(program: Command): string {
  const cases = casesOf(program, "").map(
    ({ path, words }) => `    ${path === "" ? "*" : `"${path}"|"${path} "*`}) words="${words.join(" ")}" ;;`,
  );
  return `_bellhop() {
  local path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path+="\${path:+ }$word"
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _bellhop bellhop
`;
}

/** The deepest first: the first case that fits is taken. */
function casesOf(command: Command, path: string): { path: string; words: string[] }[] {
  const inner = command.commands.flatMap((child) => casesOf(child, `${path} ${child.name()}`.trim()));
  const names = command.commands.map((child) => child.name());
  const options = command.options.map(({ long }) => long ?? "").filter((name) => name !== "");
  return [...inner, { path, words: [...names, ...options, "--help"] }];
}
