import type { Command } from "commander";
import { toJson } from "../operator.ts";
import { createBellhop } from "../sdk.ts";
import { printable, renderTable } from "../table.ts";
import { DEFAULT_URL } from "./choose-server.ts";
import { readProfiles, writeProfiles } from "./profiles.ts";
import { readSecret } from "./read-secret.ts";
import type { User } from "./user.ts";

export function addLoginCommands(program: Command, user: User): void {
  const { file, print } = user;

  program
    .command("login")
    .description("store a server and its API key as a profile; enter the key at the prompt or pipe it in")
    .argument("[url]", "address of the server", DEFAULT_URL)
    .option("--name <name>", "name of the profile", "default")
    .option("--json", "print JSON")
    .action(async (url: string, { name, json }: { name: string; json?: true }) => {
      const before = await readProfiles(file);
      const apiKey = (await readSecret("API key")).trim();
      // An invalid key is not stored.
      const me = await createBellhop({ url, apiKey, maxRetries: 0 }).me();
      await writeProfiles(file, { current: name, profiles: { ...before.profiles, [name]: { url, apiKey } } });
      if (json) return print(toJson({ profile: name, url, team: me.team.name, role: me.role }));
      print(
        `The profile ${name} is ${printable(me.team.name)} at ${url}, as ${me.role}. It is used from now on\n`,
      );
    });

  const profile = program
    .command("profile")
    .description("list the profiles that bellhop login stored")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: true }) => {
      const { current, profiles } = await readProfiles(file);
      const rows = Object.entries(profiles).map(([name, { url }]) => ({
        name,
        url,
        current: name === current,
      }));
      if (json) return print(toJson({ profiles: rows }));
      if (rows.length === 0) return print("No profiles: bellhop login creates one\n");
      const columns = [
        { title: "", of: (row: (typeof rows)[number]) => (row.current ? "*" : "") },
        { title: "NAME", of: (row: (typeof rows)[number]) => row.name },
        { title: "URL", of: (row: (typeof rows)[number]) => row.url },
      ];
      print(renderTable(columns, rows, user.terminalWidth));
    });
  profile
    .command("use")
    .description("make this profile the current one")
    .argument("<name>", "of the profile")
    .action(async (name: string) => {
      const before = await readProfiles(file);
      requireProfile(before.profiles, name);
      await writeProfiles(file, { ...before, current: name });
      print(`The profile ${name} is used from now on\n`);
    });
  profile
    .command("remove")
    .description("forget one, with its key; the key itself stays valid")
    .argument("<name>", "of the profile")
    .action(async (name: string) => {
      const { current, profiles } = await readProfiles(file);
      requireProfile(profiles, name);
      const { [name]: _forgotten, ...others } = profiles;
      await writeProfiles(file, { current: current === name ? null : current, profiles: others });
      print(`The profile ${name} is forgotten\n`);
    });
}

function requireProfile(profiles: object, name: string): void {
  if (!Object.hasOwn(profiles, name))
    throw new Error(`There is no profile "${name}"; bellhop profile lists them`);
}
