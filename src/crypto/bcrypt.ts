import { Worker } from 'node:worker_threads';

export type BcryptWork = { readonly password: string; readonly hash: string };

/**
 * Compares a password with a bcrypt hash. A thread of its own computes it, because node:crypto has no bcrypt; it is not
 * kept, because each account needs it once. Call it inside `withArgon2Slot`, which bounds the number of threads.
 */
export const compareBcrypt = (work: BcryptWork): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./bcrypt.worker.ts', import.meta.url), { workerData: work, execArgv: [] });
    worker.once('message', (isEqual: boolean) => resolve(isEqual));
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`The thread for bcrypt exited with ${code}.`)));
  });
