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

/** Metadata of at most 8 KB each, as Roster stores it. */
export function toMetadata(shown, hidden) {
  const part = (value) => {
    if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return undefined;
    if (Buffer.byteLength(JSON.stringify(value)) <= 8192) return value;
    warn('metadata of more than 8 KB was left out');
    return undefined;
  };
  const parts = { public: part(shown), private: part(hidden) };
  return parts.public === undefined && parts.private === undefined ? null : parts;
}

/** The roles that the members of a team need besides owner and member, by the name that they have in Roster. */
export function createRoles(permissionsOfAdmin) {
  const roles = new Map();
  return {
    /** Notes a role of the former system. @returns its name */
    note(former) {
      const words = former.replace(/[_:\s-]+/g, ' ').trim();
      // Every team of Roster has these two roles, and one owner: others become administrators.
      if (/^(member|guest)$/i.test(words)) return words.toLowerCase();
      const isAdmin = /^(admin|owner)$/i.test(words);
      const name = isAdmin ? 'Admin' : `${words.charAt(0).toUpperCase()}${words.slice(1)}`.slice(0, 100);
      if (!isAdmin) warn(`members have the new role ${name}, which can only see the dashboard: set its permissions`);
      roles.set(name.toLowerCase(), { name, permissions: isAdmin ? permissionsOfAdmin : ['access_dashboard'] });
      return name;
    },
    list: () => [...roles.values()],
  };
}

const warnings = new Map();

/** Counts what cannot be converted. */
export const warn = (text) => void warnings.set(text, (warnings.get(text) ?? 0) + 1);

process.on('exit', () => {
  for (const [text, count] of warnings) process.stderr.write(`${count} × ${text}\n`);
});

/** Base64 without padding, as the PHC format has it. */
export const base64 = (bytes) => Buffer.from(bytes).toString('base64').replaceAll('=', '');
