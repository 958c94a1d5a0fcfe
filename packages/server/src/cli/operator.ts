import { userInfo } from "node:os";
import type { Database } from "../store/sql.ts";

/** The operator at the server's terminal. */
export interface Operator {
  /** The name in the audit log. */
  readonly userName: string;
  /** Undefined if the output is not a terminal. */
  readonly terminalWidth: number | undefined;
  work<T>(command: (database: Database, services: OperatorServices) => Promise<T>): Promise<T>;
  print(text: string): void;
}

export type OperatorServices = Awaited<ReturnType<typeof loadServices>>;

/** Loaded lazily: commands that use a server's API need neither these nor a database. */
async function loadServices() {
  const [teams, members, keys] = await Promise.all([
    import("../service/operator/operator-teams.ts"),
    import("../service/operator/operator-members.ts"),
    import("../service/operator/operator-keys.ts"),
  ]);
  return { ...teams, ...members, ...keys };
}

export function createOperator(): Operator {
  return {
    userName: readUserName(),
    terminalWidth: process.stdout.columns,
    async work(command) {
      const { readConfig } = await import("../config.ts");
      const { withOperatorDatabase } = await import("./operator-database.ts");
      const services = await loadServices();
      return withOperatorDatabase(readConfig(process.env), (database) => command(database, services));
    },
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
