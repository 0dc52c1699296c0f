import { createReadStream } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Reads a file with one JSON object per line. */
export async function* readNdjson(path) {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity }))
    if (line.trim() !== '') yield JSON.parse(line);
}

/** Reads the rows of a CSV file (RFC 4180) as objects, by the names in its first row. */
export async function* readCsv(path) {
  let [names, row, cell, isQuoted, wasQuote] = [null, [], '', false, false];
  const endRow = () => {
    const cells = [...row, cell];
    [row, cell] = [[], ''];
    if (names === null) [names, cells.length] = [cells.map((name) => name.replace(/^\uFEFF/, '')), 0];
    return cells.length <= 1 ? null : Object.fromEntries(names.map((name, i) => [name, cells[i] ?? '']));
  };
  for await (const chunk of createReadStream(path, 'utf8')) {
    for (const char of chunk) {
      if (isQuoted) {
        if (char === '"') [isQuoted, wasQuote] = [false, true];
        else cell += char;
      } else if (char === '"') {
        // A doubled quotation mark stands for one.
        if (wasQuote) cell += '"';
        isQuoted = true;
        wasQuote = false;
      } else {
        wasQuote = false;
        if (char === ',') [row, cell] = [[...row, cell], ''];
        else if (char === '\n') {
          const object = endRow();
          if (object !== null) yield object;
        } else if (char !== '\r') cell += char;
      }
    }
  }
  const object = endRow();
  if (object !== null) yield object;
}

/** Writes a row of Roster's import format, without members that are null, undefined or empty. */
export async function write(row) {
  const given = Object.entries(row).filter(([, value]) => value !== null && value !== undefined && value !== '');
  if (!process.stdout.write(`${JSON.stringify(Object.fromEntries(given))}\n`)) await once(process.stdout, 'drain');
}

const warnings = new Map();

/** Counts what cannot be converted. */
export const warn = (text) => void warnings.set(text, (warnings.get(text) ?? 0) + 1);

process.on('exit', () => {
  for (const [text, count] of warnings) process.stderr.write(`${count} × ${text}\n`);
});

/** Base64 without padding, as the PHC format has it. */
export const base64 = (bytes) => Buffer.from(bytes).toString('base64').replaceAll('=', '');
