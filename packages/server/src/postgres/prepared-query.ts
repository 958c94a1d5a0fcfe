import { type Connection, type FieldDef, type Submittable, types } from "pg";
import type { Statement } from "../store/sql.ts";
import { type Template, templateOf } from "./rows.ts";

/** The driver's own record of the statements that the server has prepared. */
type PreparingConnection = Connection & { readonly parsedStatements: Readonly<Record<string, string>> };

/** A value as it is sent. */
export type Parameter = string | Buffer | null;

interface Column {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

interface RowShape {
  readonly columns: readonly Column[];
  readonly template: Template;
}

/** By connection and name: a prepared statement keeps its columns, and fails if they would change. */
const shapes = new WeakMap<Connection, Map<string, RowShape>>();

const NO_ROWS: RowShape = { columns: [], template: {} };

/**
 * One execution of a prepared statement. The driver's own query has the server describe the columns at every execution and
 * builds their parsers each time, which costs as much as the answer to a batch. Here a connection asks once per statement.
 */
export class PreparedQuery<Row extends object> implements Submittable {
  /** The client records under this name and text that the server has prepared it. */
  readonly name: string;
  readonly text: string;
  readonly #statement: Statement;
  readonly values: Parameter[];
  /** The client calls nothing of ours if it finds no callback here. */
  readonly callback: (error: Error | null, rows: Row[]) => void;
  readonly #rows: Row[] = [];
  #known: Map<string, RowShape> = new Map();
  #shape: RowShape = NO_ROWS;
  #failure: Error | null = null;

  constructor(
    statement: Statement,
    values: Parameter[],
    callback: (error: Error | null, rows: Row[]) => void,
  ) {
    this.name = statement.name;
    this.text = statement.text;
    this.#statement = statement;
    this.values = values;
    this.callback = callback;
  }

  submit(connection: Connection): void {
    const { parsedStatements } = connection as PreparingConnection;
    this.#known = shapesOf(connection);
    const known = this.#known.get(this.name);
    if (known !== undefined) this.#shape = known;
    const { name, text } = this;
    // One write for all messages.
    connection.stream.cork();
    if (parsedStatements[name] === undefined) connection.parse({ name, text, types: [] }, true);
    if (known === undefined) connection.describe({ type: "S", name }, true);
    connection.bind({ statement: name, values: this.values }, true);
    connection.execute(null, true);
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({
      name,
      read: types.getTypeParser(dataTypeID, "text"),
    }));
    this.#shape = {
      columns,
      template: templateOf(
        this.#statement,
        columns.map(({ name }) => name),
      ),
    };
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const { columns, template } = this.#shape;
    const row: Record<string, unknown> = { ...template };
    try {
      for (let index = 0; index < columns.length; index += 1) {
        const { name, read } = columns[index] as Column;
        const text = fields[index] ?? null;
        // trusted keys: columns that a statement of ours names.
        row[name] = text === null ? null : read(text);
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error("Unreadable answer", { cause: error });
    }
    this.#rows.push(row as Row);
  }

  handleCommandComplete(): void {
    this.#known.set(this.name, this.#shape);
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure, this.#rows);
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }

  /** None of our statements is empty, reads pages or copies; a client without these would crash on such an answer. */
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

function shapesOf(connection: Connection): Map<string, RowShape> {
  const known = shapes.get(connection);
  if (known !== undefined) return known;
  const made = new Map<string, RowShape>();
  shapes.set(connection, made);
  return made;
}
