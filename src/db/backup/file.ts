import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';

// A backup is gzip of lines: a header as JSON; for each table a line of JSON that names it, its rows as
// COPY writes them and a line `\.`; last, the SHA-256 of all that was before. `zcat` shows it.

const FORMAT = 1;

const header = z.object({
  product: z.literal('roster'),
  format: z.int(),
  madeAt: z.string(),
  /** Names of the migrations that the database had. */
  migrations: z.array(z.string()).min(1),
});
/** The waiting jobs are not a table of ours: they are taken and given through the queue's own functions. */
const section = z.object({ kind: z.enum(['table', 'jobs']), name: z.string(), columns: z.array(z.string()) });
const seal = z.object({ sha256: z.string() });

export type Header = z.infer<typeof header>;
export type Section = z.infer<typeof section>;

/** A backup as its reader meets it; what is not followed by an end has been cut or altered. */
export type Part =
  | { readonly header: Header }
  | { readonly section: Section }
  /** Whole lines of the section before. */
  | { readonly rows: Buffer }
  | { readonly sectionEnd: true };

const END_OF_ROWS = Buffer.from('\\.\n');
const LINE_BYTES_MAX = 1024 * 1024;

/** The content of a backup before it is compressed. */
export async function* writtenBackup(
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

/** Reads a backup in bounded memory, and throws what says so in one line where it is not whole, or none. */
export async function* readBackup(file: string): AsyncGenerator<Part> {
  const sum = createHash('sha256');
  let at: 'header' | 'section' | 'rows' | 'end' = 'header';

  for await (const block of wholeLines(contentOf(file))) {
    for (let rest = block; rest.length > 0;) {
      if (at === 'rows') {
        const end = endOfRows(rest);
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
        yield { header: headerOf(line) };
        sum.update(line);
        at = 'section';
        continue;
      }
      const value = at === 'section' ? valueOf(line) : undefined;
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

const damaged = () => new Error('the backup is damaged: it was cut or altered after it had been made');
const foreign = () => new Error('the file is no backup of Roster');

function headerOf(line: Buffer): Header {
  const parsed = header.safeParse(valueOf(line));
  if (!parsed.success) throw foreign();
  if (parsed.data.format !== FORMAT) throw new Error('the backup was made by a newer version of Roster: use that one');
  return parsed.data;
}

function valueOf(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    return undefined;
  }
}

/** Where the line is that ends the rows. No row looks like it, because COPY doubles every backslash. */
function endOfRows(lines: Buffer): number {
  if (lines.subarray(0, END_OF_ROWS.length).equals(END_OF_ROWS)) return 0;
  const before = lines.indexOf('\n\\.\n');
  return before === -1 ? -1 : before + 1;
}

async function* contentOf(file: string): AsyncGenerator<Buffer> {
  const content = pipeline(createReadStream(file), createGunzip(), () => undefined);
  try {
    for await (const chunk of content) yield chunk as Buffer; // zlib gives nothing else
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))) throw error;
    throw error.message === 'incorrect header check' ? foreign() : damaged();
  }
}

/** The same bytes in blocks that end with a line. */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let isFirst = true;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end === 0) {
      pending.push(chunk);
      pendingBytes += chunk.length;
      // What is no backup need not have lines at all.
      if (isFirst && pendingBytes > LINE_BYTES_MAX) throw foreign();
      continue;
    }
    isFirst = false;
    yield Buffer.concat([...pending, chunk.subarray(0, end)]);
    pending = [chunk.subarray(end)];
    pendingBytes = chunk.length - end;
  }
  if (pendingBytes > 0) throw isFirst ? foreign() : damaged();
}
