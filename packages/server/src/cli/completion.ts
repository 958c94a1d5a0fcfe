import { Argument, type Command } from "commander";

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description('print what a shell needs to complete commands: eval "$(bellhop completion bash)"')
    .addArgument(new Argument("<shell>").choices(Object.keys(SHELLS)))
    .action((shell: keyof typeof SHELLS) => {
      process.stdout.write(SHELLS[shell](casesOf(program, "")));
    });
}

/** What may follow a command: its subcommands and options. */
interface Case {
  readonly path: string;
  readonly words: readonly string[];
}

/** Words that begin with a dash are not part of a command's name. */
function bashCompletion(cases: readonly Case[]): string {
  return `_bellhop() {
  local path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path+="\${path:+ }$word"
  done
  case "$path" in
${cases.map(({ path, words }) => `    ${patternOf(path)}) words="${words.join(" ")}" ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _bellhop bellhop
`;
}

/** In zsh `path` is the search path of programs. */
function zshCompletion(cases: readonly Case[]): string {
  return `_bellhop() {
  local line="" word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || line+="\${line:+ }$word"
  done
  case "$line" in
${cases.map(({ path, words }) => `    ${patternOf(path)}) found=(${words.join(" ")}) ;;`).join("\n")}
  esac
  compadd -- $found
}
compdef _bellhop bellhop
`;
}

function fishCompletion(cases: readonly Case[]): string {
  const patterns = (path: string) => (path === "" ? "'*'" : `'${path}' '${path} *'`);
  return `function __bellhop_words
  set -l line
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; or set -a line $word
  end
  switch "$line"
${cases.map(({ path, words }) => `    case ${patterns(path)}\n      printf '%s\\n' ${words.join(" ")}`).join("\n")}
  end
end
complete -c bellhop -f -a '(__bellhop_words)'
`;
}

function patternOf(path: string): string {
  return path === "" ? "*" : `"${path}"|"${path} "*`;
}

/** The deepest first: the first case that fits is taken. */
function casesOf(command: Command, path: string): Case[] {
  const inner = command.commands.flatMap((child) => casesOf(child, `${path} ${child.name()}`.trim()));
  const names = command.commands.map((child) => child.name());
  const options = command.options.map(({ long }) => long ?? "").filter((name) => name !== "");
  return [...inner, { path, words: [...names, ...options, "--help"] }];
}
