import { Worker } from 'node:worker_threads';
import type { HashFunctions, HashOutcome } from './hash.worker.ts';

/** An idle thread keeps about 10 MB. */
const IDLE_MS = 60_000;

type Settle = { readonly resolve: (result: unknown) => void; readonly reject: (error: unknown) => void };

/** A thread that computes one hash after another. */
class HashThread {
  readonly #worker = new Worker(new URL('./hash.worker.ts', import.meta.url), { execArgv: [] });
  #pending: Settle | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    this.#worker.on('message', (outcome: HashOutcome) => this.#onOutcome(outcome));
    this.#worker.on('error', (error) => this.#onEnd(error));
    this.#worker.on('exit', (code) => this.#onEnd(new Error(`The thread for hashes exited with ${code}.`)));
  }

  run(name: string, args: readonly unknown[]): Promise<unknown> {
    clearTimeout(this.#timer);
    this.#worker.ref();
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#worker.postMessage({ name, args });
    });
  }

  #onOutcome(outcome: HashOutcome): void {
    const pending = this.#pending;
    this.#pending = undefined;
    this.#worker.unref();
    this.#timer = setTimeout(() => this.#end(), IDLE_MS).unref();
    idle.push(this);
    if ('error' in outcome) pending?.reject(outcome.error);
    else pending?.resolve(outcome.result instanceof Uint8Array ? toBuffer(outcome.result) : outcome.result);
  }

  #onEnd(error: Error): void {
    this.#pending?.reject(error);
    this.#end();
  }

  #end(): void {
    clearTimeout(this.#timer);
    const index = idle.indexOf(this);
    if (index !== -1) idle.splice(index, 1);
    void this.#worker.terminate();
  }
}

/** Messages between threads lose the class. */
const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** The one used last comes last, and is used first. */
const idle: HashThread[] = [];

/**
 * Computes a password hash in a thread with a low priority, so that passwords take no core from requests, and no thread
 * from files, DNS and compression. Call it inside `withHashSlot`, which bounds the number of threads.
 */
export const computeHash = <Name extends keyof HashFunctions>(
  name: Name,
  ...args: Parameters<HashFunctions[Name]>
): Promise<ReturnType<HashFunctions[Name]>> =>
  // What the function returns.
  (idle.pop() ?? new HashThread()).run(name, args) as Promise<ReturnType<HashFunctions[Name]>>;
