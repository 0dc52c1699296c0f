import type { Submittable } from 'pg';

type Parse = (text: string) => unknown;
type Column = { readonly name: string; readonly parse: Parse };
type Field = { readonly name: string; readonly dataTypeID: number };

/** A value as PostgreSQL reads it. */
export type Value = string | Uint8Array | null;

/** What of a pg client a query needs, beside its connection. */
export type Types = { getTypeParser(oid: number): Parse };

/** The extended query protocol of a pg connection. */
type Wire = {
  /** The texts of what has been prepared, and of what is being prepared, by name. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: readonly Value[] }): void;
  describe(message: { type: 'P'; name: '' }): void;
  execute(message: { portal: '' }): void;
  sync(): void;
};

const columnsOf = new Map<string, readonly Column[]>();

/**
 * A named statement for pg's `client.query`. PostgreSQL describes its columns with the first answer
 * alone: pg's own query asks for that each time, which made up a fifth of a read's CPU time.
 */
export class NamedQuery implements Submittable {
  readonly name: string;
  readonly text: string;
  /** Called once, with the rows as they come. A mutable property, which pg wraps to limit the time. */
  callback: (error: Error | null, rows: object[]) => void;
  readonly #values: readonly Value[];
  readonly #types: Types;
  readonly #rows: object[] = [];
  #columns: readonly Column[] | undefined;
  #failure: Error | null = null;

  constructor(name: string, text: string, values: readonly Value[], types: Types, callback: NamedQuery['callback']) {
    this.name = name;
    this.text = text;
    this.callback = callback;
    this.#values = values;
    this.#types = types;
  }

  submit(connection: unknown): Error | void {
    const wire = connection as Wire; // whose declared type has none of what pg's own queries use
    const { name, text } = this;
    const prepared = wire.parsedStatements[name] ?? wire.submittedNamedStatements[name];
    if (prepared === undefined) {
      wire.parse({ name, text });
      wire.submittedNamedStatements[name] = text;
    } else if (prepared !== text) {
      return new Error(`Two statements have the name ${name}.`);
    }
    wire.bind({ statement: name, values: this.#values });
    this.#columns = columnsOf.get(name);
    if (this.#columns === undefined) wire.describe({ type: 'P', name: '' });
    wire.execute({ portal: '' });
    wire.sync();
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: this.#types.getTypeParser(dataTypeID) }));
    columnsOf.set(this.name, this.#columns);
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    let i = 0;
    try {
      for (const { name, parse } of this.#columns ?? []) {
        const text = fields[i++] ?? null;
        row[name] = text === null ? null : parse(text);
      }
    } catch (error) {
      this.#failure = error as Error; // parsers throw nothing else
    }
    this.#rows.push(row);
  }

  handleReadyForQuery(): void {
    this.callback(this.#failure, this.#rows);
  }

  handleError(error: Error): void {
    this.callback(error, []);
  }

  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}
