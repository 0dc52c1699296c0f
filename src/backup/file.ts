import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';

// A backup is a gzip file of lines. A JSON header is followed by the tables: a JSON line with the name, the rows in
// COPY format, and a line `\.`. The last line has the SHA-256 of all previous lines. `zcat` prints it.

const FORMAT = 1;

const header = z.object({
  product: z.literal('roster'),
  format: z.int(),
  madeAt: z.string(),
  /** Names of the migrations that were applied to the database. */
  migrations: z.array(z.string()).min(1),
});
/** Waiting jobs are a separate kind, because they are restored through the functions of the queue. */
const section = z.object({ kind: z.enum(['table', 'jobs']), name: z.string(), columns: z.array(z.string()) });
const seal = z.object({ sha256: z.string() });

export type Header = z.infer<typeof header>;
export type Section = z.infer<typeof section>;

/** A part of a backup, in file order. */
export type Part =
  | { readonly header: Header }
  | { readonly section: Section }
  /** Complete lines of the current section. */
  | { readonly rows: Buffer }
  | { readonly sectionEnd: true };

const END_OF_ROWS = Buffer.from('\\.\n');
const LINE_BYTES_MAX = 1024 * 1024;

/** Serializes a backup, without compression. */
export async function* serializeBackup(
  about: Omit<Header, 'product' | 'format'>,
  sections: AsyncIterable<{ readonly section: Section; readonly rows: AsyncIterable<Buffer> }>,
): AsyncGenerator<Buffer> {
  const sum = createHash('sha256');
  const summed = (bytes: Buffer): Buffer => {
    sum.update(bytes);
    return bytes;
  };
  const line = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

  yield summed(line({ product: 'roster', format: FORMAT, ...about } satisfies Header));
  for await (const { section: named, rows } of sections) {
    yield summed(line(named));
    for await (const block of rows) yield summed(block);
    yield summed(END_OF_ROWS);
  }
  yield line({ sha256: sum.digest('hex') } satisfies z.infer<typeof seal>);
}

/** Reads a backup in bounded memory. @throws an error with one line if the file is damaged or not a backup */
export async function* readBackup(file: string): AsyncGenerator<Part> {
  const sum = createHash('sha256');
  let at: 'header' | 'section' | 'rows' | 'end' = 'header';

  for await (const block of splitAtLines(readContent(file))) {
    for (let rest = block; rest.length > 0;) {
      if (at === 'rows') {
        const end = findEndOfRows(rest);
        const rows = end === -1 ? rest : rest.subarray(0, end);
        sum.update(rows);
        if (rows.length > 0) yield { rows };
        if (end === -1) break;
        sum.update(END_OF_ROWS);
        rest = rest.subarray(end + END_OF_ROWS.length);
        at = 'section';
        yield { sectionEnd: true };
        continue;
      }
      const line = rest.subarray(0, rest.indexOf('\n') + 1);
      rest = rest.subarray(line.length);
      if (at === 'header') {
        yield { header: parseHeader(line) };
        sum.update(line);
        at = 'section';
        continue;
      }
      const value = at === 'section' ? parseJson(line) : undefined;
      const sealed = seal.safeParse(value);
      if (sealed.success && sealed.data.sha256 === sum.digest('hex')) {
        at = 'end';
        continue;
      }
      const named = sealed.success ? undefined : section.safeParse(value).data;
      if (named === undefined) throw damaged();
      sum.update(line);
      at = 'rows';
      yield { section: named };
    }
  }
  if (at !== 'end') throw damaged();
}

const damaged = () => new Error('the backup is damaged: it was truncated or altered after it was written');
const notABackup = () => new Error('the file is not a backup of Roster');

function parseHeader(line: Buffer): Header {
  const parsed = header.safeParse(parseJson(line));
  if (!parsed.success) throw notABackup();
  if (parsed.data.format !== FORMAT)
    throw new Error('the backup was created by a newer version of Roster: restore it with that version');
  return parsed.data;
}

function parseJson(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    return undefined;
  }
}

/** Returns the index of the line that ends the rows. No row equals it, because COPY doubles every backslash. */
function findEndOfRows(lines: Buffer): number {
  if (lines.subarray(0, END_OF_ROWS.length).equals(END_OF_ROWS)) return 0;
  const before = lines.indexOf('\n\\.\n');
  return before === -1 ? -1 : before + 1;
}

async function* readContent(file: string): AsyncGenerator<Buffer> {
  const content = pipeline(createReadStream(file), createGunzip(), () => undefined);
  try {
    for await (const chunk of content) yield chunk as Buffer; // zlib emits only buffers
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))) throw error;
    throw error.message === 'incorrect header check' ? notABackup() : damaged();
  }
}

/** Regroups the bytes into blocks that end with a complete line. */
async function* splitAtLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let isFirst = true;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end === 0) {
      pending.push(chunk);
      pendingBytes += chunk.length;
      // Bound memory: another file may contain no line feed.
      if (isFirst && pendingBytes > LINE_BYTES_MAX) throw notABackup();
      continue;
    }
    isFirst = false;
    yield Buffer.concat([...pending, chunk.subarray(0, end)]);
    pending = [chunk.subarray(end)];
    pendingBytes = chunk.length - end;
  }
  if (pendingBytes > 0) throw isFirst ? notABackup() : damaged();
}
