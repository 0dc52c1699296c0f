import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { EncodedFile } from './asset.ts';

/** The message of the thread: the script in each coding. */
export type PostedScript = Readonly<Record<'body' | 'br' | 'gzip', Uint8Array<ArrayBuffer>>>;

/** Loads Scalar's browser script in all codings. A thread compresses it, because that takes seconds of CPU time. */
export async function loadScalarScript(): Promise<Omit<EncodedFile, 'type'>> {
  const worker = new Worker(new URL('./scalar.worker.ts', import.meta.url));
  const [{ body, br, gzip }] = (await once(worker, 'message')) as [PostedScript];
  return { body: toBuffer(body), br: toBuffer(br), gzip: toBuffer(gzip) };
}

const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
