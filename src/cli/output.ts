import { once } from 'node:events';
import type { Command } from 'commander';
import { isolateRightToLeft } from '../messages/direction.ts';
import { terminalOf } from './terminal.ts';
import { toReadableJson, toVisible } from '../messages/neutralize.ts';

/** A sentence, or the fields of a row. Null and undefined are left out. */
export type Line = string | readonly (string | null | undefined)[];

/** The result of a command: `json` is printed with --json, else `lines`. */
export type Answer = {
  readonly json: unknown;
  readonly lines: readonly Line[];
  /** The reason if the command fails after printing. */
  readonly failure?: string;
};

/** The result of a command that has printed its output itself. */
export const printed: Answer = { json: undefined, lines: [] };

const SEPARATOR = '  ';

/** Prepares a field, which can be the name of a stranger: no other row, no other field, and no order to the terminal. */
const showField = (field: string): string => isolateRightToLeft(toVisible(field).replaceAll(/\s+/g, ' '));

const showLine = (line: Line): string =>
  typeof line === 'string'
    ? toVisible(line)
    : line
        .filter((field) => field !== null && field !== undefined)
        .map(showField)
        .join(SEPARATOR);

/** Writes to standard output, as fast as its reader reads. */
async function write(command: Command, text: string): Promise<void> {
  const { stdout } = terminalOf(command);
  if (!stdout.write(text)) await once(stdout, 'drain');
}

const isJsonWanted = (command: Command): boolean => command.optsWithGlobals<{ json?: true }>().json === true;

export async function print(command: Command, answer: Answer): Promise<void> {
  if (answer === printed) return;
  const { json, lines } = answer;
  await write(
    command,
    `${isJsonWanted(command) ? toReadableJson(JSON.stringify(json)) : lines.map(showLine).join('\n').trimEnd()}\n`,
  );
}

type List<Row> = {
  readonly rows: AsyncIterable<Row>;
  readonly json: (row: Row) => unknown;
  readonly line: (row: Row) => Line;
  readonly empty: string;
};

/** Prints rows as they arrive, so that a list of any length takes bounded memory. */
export async function printList<Row>(command: Command, { rows, json, line, empty }: List<Row>): Promise<Answer> {
  const isJson = isJsonWanted(command);
  let count = 0;
  for await (const row of rows) {
    const separator = count === 0 ? '[' : ',';
    await write(command, isJson ? separator + toReadableJson(JSON.stringify(json(row))) : `${showLine(line(row))}\n`);
    count += 1;
  }
  if (isJson) await write(command, count === 0 ? '[]\n' : ']\n');
  else if (count === 0) await write(command, `${empty}\n`);
  return printed;
}

/** Prints NDJSON or CSV as it arrives. What users chose is in JSON documents, in CSV too. */
export async function printExport(command: Command, parts: AsyncIterable<string>): Promise<Answer> {
  for await (const part of parts) await write(command, toReadableJson(part));
  return printed;
}
