import { argon2Sync, pbkdf2Sync, scryptSync } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

// The program of a thread of `computeHash`.

const FUNCTIONS = { argon2: argon2Sync, bcrypt: compareSync, pbkdf2: pbkdf2Sync, scrypt: scryptSync };

export type HashFunctions = typeof FUNCTIONS;
export type HashWork = { readonly name: keyof HashFunctions; readonly args: readonly never[] };
export type HashOutcome = { readonly result: Uint8Array | boolean } | { readonly error: unknown };

/** While other work needs all cores, it gets ten times the CPU time of this thread. */
const NICENESS = 10;

// On Linux, threads have priorities of their own. Elsewhere this one keeps that of the process.
try {
  const [threadId] = /\d+$/.exec(readlinkSync('/proc/thread-self')) ?? [];
  if (threadId !== undefined) setPriority(Number(threadId), NICENESS);
} catch {
  // Without /proc, or where the priority cannot be changed.
}

parentPort?.on('message', ({ name, args }: HashWork) => {
  const compute = FUNCTIONS[name] as (...given: readonly unknown[]) => Uint8Array | boolean; // its own arguments
  let outcome: HashOutcome;
  try {
    outcome = { result: compute(...args) };
  } catch (error) {
    outcome = { error };
  }
  parentPort?.postMessage(outcome);
});
