import { userInfo } from "node:os";
import { readConfig } from "../config.ts";
import type { Database } from "../store/sql.ts";
import { withOperatorDatabase } from "./operator-database.ts";

/** The person who runs a command on the server's machine, and the terminal in front of them. */
export interface Operator {
  /** By which the audit log names them. */
  readonly userName: string;
  /** Undefined where the output does not go to a terminal. */
  readonly terminalWidth: number | undefined;
  work<T>(command: (database: Database) => Promise<T>): Promise<T>;
  print(text: string): void;
}

export function createOperator(): Operator {
  return {
    userName: readUserName(),
    terminalWidth: process.stdout.columns,
    work: (command) => withOperatorDatabase(readConfig(process.env), command),
    print: (text) => {
      process.stdout.write(text);
    },
  };
}

export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** In a container the user may have a number and no name. */
function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
