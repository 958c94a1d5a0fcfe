import type { Command } from "commander";
import type { Bellhop } from "../sdk.ts";
import type { Column } from "../table.ts";
import { type ServerOptions, serverCommand, show, showRows, timeOf, type User } from "./user.ts";

type UrlGroup = Awaited<ReturnType<Bellhop["urlGroups"]["list"]>>[number];

export function addUrlGroupCommands(program: Command, user: User): void {
  const groups = program.command("url-groups").description("named lists of URLs, for /v2/publish");

  serverCommand(groups, "list", "list URL groups with their endpoints").action(
    async (options: ServerOptions) => {
      const found = await (await user.client(options)).urlGroups.list();
      showRows(user, options, found, { columns: COLUMNS, none: "No URL groups" });
    },
  );

  serverCommand(groups, "set", "store the endpoints of a URL group; replaces those that were stored")
    .argument("<name>")
    .argument("<endpoint...>", "a URL, or <name>=<URL>")
    .action(async (name: string, endpoints: readonly string[], options: ServerOptions) => {
      const stored = await (await user.client(options)).urlGroups.put(name, {
        endpoints: endpoints.map(readEndpoint),
      });
      show(user, options, stored, (group) => `${group.name}: ${group.endpoints.length} endpoints\n`);
    });

  serverCommand(groups, "delete", "delete a URL group")
    .argument("<name>")
    .action(async (name: string, options: ServerOptions) => {
      show(
        user,
        options,
        await (await user.client(options)).urlGroups.delete(name),
        () => `Deleted ${name}\n`,
      );
    });
}

/** A name has no colon and no slash, so a URL with an equals sign in it is not taken for one. */
function readEndpoint(text: string): { url: string; name?: string } {
  const [, name, url] = /^([A-Za-z0-9._-]+)=(.+)$/.exec(text) ?? [];
  return name === undefined || url === undefined ? { url: text } : { name, url };
}

const COLUMNS: readonly Column<UrlGroup>[] = [
  { title: "NAME", of: ({ name }) => name },
  {
    title: "ENDPOINTS",
    of: ({ endpoints }) =>
      endpoints.map(({ name, url }) => (name === null ? url : `${name}=${url}`)).join(" "),
  },
  { title: "UPDATED", of: ({ updatedAt }) => timeOf(updatedAt) },
];
