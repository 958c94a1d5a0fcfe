import type { Command } from "commander";
import type { ServerOptions, User } from "../user/user.ts";

interface McpOptions extends ServerOptions {
  readonly allowWrites?: true;
}

/** The protocol's SDK is loaded by this command alone. */
export function addMcpCommand(program: Command, user: User): void {
  program
    .command("mcp")
    .description("serve the Model Context Protocol over stdin and stdout, for AI agents")
    .option("--profile <name>", "the server to use, by a name that bellhop login gave it")
    .option("--allow-writes", "offer the tools that change something too: create, retry, cancel, pause")
    .action(async (options: McpOptions) => {
      const client = await user.client(options);
      // A key that does not work ends the command at once, with the reason on stderr.
      const me = await client.me();
      const { serveMcp } = await import("./mcp-server.ts");
      serveMcp(client, me, options.allowWrites === true);
    });
}
