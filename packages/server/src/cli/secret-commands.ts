import { isIPv6 } from "node:net";
import type { Command } from "commander";
import type { Operator } from "./operator.ts";

export function addVaultCommands(program: Command, { work, print }: Operator): void {
  const vault = program.command("vault").description("the vault of stored credentials");
  vault
    .command("key")
    .description("print a new key for BELLHOP_VAULT_KEYS; changes nothing")
    .action(async () => {
      const { newVaultKey } = await import("../vault/key-file.ts");
      print(`${newVaultKey()}\n`);
    });
  vault
    .command("rotate")
    .description("re-encrypt every stored credential with the first key of BELLHOP_VAULT_KEYS")
    .action(async () => {
      const { ConfigError, readConfig } = await import("../config.ts");
      const { createRotation } = await import("../vault/rotation.ts");
      const { vaultKeys } = readConfig(process.env);
      if (vaultKeys === null || vaultKeys === "off")
        throw new ConfigError("Set BELLHOP_VAULT_KEYS, the new key first");
      // A running server does the same within minutes; this command does it at once.
      const { resealed, unreadable } = await work((database) =>
        createRotation({ sql: database, keyRing: vaultKeys }).rotateAll(),
      );
      print(`${resealed} tokens re-encrypted, ${unreadable} cannot be decrypted with these keys\n`);
      if (unreadable > 0) process.exitCode = 1;
    });
}

export function addSessionCommands(program: Command, { userName, work, print }: Operator): void {
  const session = program.command("session").description("sessions of people who sign in");
  session
    .command("link")
    .description("create a link that signs a person in, once, within 15 minutes")
    .argument("<email>", "the person's address")
    .action(async (email: string) => {
      const { readConfig } = await import("../config.ts");
      const { host, port, signUp, ...config } = readConfig(process.env);
      const publicUrl = config.publicUrl ?? `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
      const link = await work((database, { createOperatorsSignInLink }) =>
        createOperatorsSignInLink(database, userName, email, { signUp: signUp.value, publicUrl }),
      );
      print(`${link}\n`);
    });
  session
    .command("rotate-key")
    .description("create a new key that signs session and access tokens; no user is signed out")
    .action(async () => {
      const { ConfigError, readConfig } = await import("../config.ts");
      if (readConfig(process.env).sessionKeys.length > 0)
        throw new ConfigError(
          "BELLHOP_SESSION_KEY is set: put the new key in front of it, separated by a comma, and restart the server",
        );
      const id = await work((database, { rotateOperatorsSessionKey }) =>
        rotateOperatorsSessionKey(database, userName),
      );
      print(`The key ${id} signs from now on, on every node within a minute\n`);
      print("Older keys are accepted for another 25 hours, until the last of their tokens has expired\n");
    });
}
