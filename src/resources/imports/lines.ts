import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { pipeline } from 'node:stream';

/** A line of a file, without its end; null if it is too long. */
export type Line = { readonly number: number; readonly bytes: Buffer | null };

const LINE_BYTES_MAX = 1024 * 1024;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** What has lines; read from the beginning by each call. */
export type Source = () => AsyncIterable<Buffer>;

/** Reads a file, also one that gzip compressed. */
export const readFile = (path: string): Source =>
  async function* () {
    yield* (await openBytes(path)) as AsyncIterable<Buffer>;
  };

/**
 * Reads the lines of a source. They end with LF or CRLF; empty ones are skipped, but counted. Memory is bounded
 * whatever the source contains.
 */
export async function* readLines(source: Source): AsyncGenerator<Line> {
  let [number, size, parts] = [1, 0, [] as Buffer[]];
  const take = (): Line | null => {
    const bytes = size > LINE_BYTES_MAX ? null : trim(Buffer.concat(parts, size), number === 1);
    const line = bytes?.length === 0 ? null : { number, bytes };
    [number, size, parts] = [number + 1, 0, []];
    return line;
  };
  const add = (part: Buffer): void => {
    size += part.length;
    if (size > LINE_BYTES_MAX) parts = [];
    else parts.push(part);
  };

  for await (const chunk of source()) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const isEmpty = size === 0 && (end === from || (end === from + 1 && chunk[from] === RETURN));
      if (isEmpty) number += 1;
      else add(chunk.subarray(from, end));
      from = end + 1;
      const line = isEmpty ? null : take();
      if (line !== null) yield line;
    }
    if (from < chunk.length) add(chunk.subarray(from));
  }
  const last = size === 0 ? null : take();
  if (last !== null) yield last;
}

async function openBytes(path: string): Promise<NodeJS.ReadableStream> {
  const file = await open(path);
  const { buffer: magic } = await file.read(Buffer.alloc(2), 0, 2, 0);
  await file.close();
  const bytes = createReadStream(path, { highWaterMark: 1024 * 1024 });
  if (magic.readUInt16BE() !== 0x1f8b) return bytes;
  // The consumer gets the error of either stream from the second one.
  return pipeline(bytes, createGunzip(), () => undefined);
}

function trim(line: Buffer, isFirst: boolean): Buffer {
  const from = isFirst && line.subarray(0, 3).equals(BOM) ? 3 : 0;
  return line.subarray(from, line.at(-1) === RETURN ? -1 : undefined);
}
