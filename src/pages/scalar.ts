import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Scalar's browser script, compressed with Brotli. Unpacking takes time and memory, so a thread does
 * it, and ends.
 */
export async function scalarScript(): Promise<Buffer> {
  const worker = new Worker(new URL('./scalar.worker.ts', import.meta.url));
  const [script] = (await once(worker, 'message')) as [Uint8Array]; // what the thread posts
  return Buffer.from(script.buffer, script.byteOffset, script.byteLength);
}
