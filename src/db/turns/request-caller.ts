import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CallerGoneError } from '../../turns.ts';

/**
 * What two connections do in the ten seconds that a change can wait, on a small machine. It is for callers of whom another
 * limit bounds how many requests come.
 */
const LONG_QUEUE_MAX = 3000;

/** The caller of a request. Connections are divided fairly between callers, and waiting work ends with its request. */
export class RequestCaller {
  /** The account; the client's address as long as there is none. */
  account: string;
  credential: string;
  /** The client's address. */
  readonly address: string;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  /** How much of this caller can run or wait, if more than of others. */
  queueMax: number | undefined;
  #over: AbortSignal | undefined;
  #isBeingIdentified = false;

  constructor(address: string, req: IncomingMessage, res: ServerResponse) {
    this.address = address;
    this.account = this.credential = `address ${address}`;
    this.#req = req;
    this.#res = res;
  }

  identify({ accountId, credentialId }: { readonly accountId: string; readonly credentialId: string }): void {
    this.account = accountId;
    this.credential = credentialId;
  }

  /** Makes a request wait in a turn of its own kind, apart from what else its address sends: that of a client, for example. */
  waitAs(name: string): void {
    this.account = this.credential = name;
    this.queueMax = LONG_QUEUE_MAX;
  }

  /** Whether the response has begun, so that the rest waits for the client. */
  get isAnswered(): boolean {
    return this.#res.headersSent;
  }

  /** Whether the client has closed the connection before it was answered. */
  get isGone(): boolean {
    return this.#req.socket.destroyed && !this.#res.writableEnded;
  }

  /**
   * Whether the client has gone, and ending the request leaves nothing half done: it only reads (RFC 9110, section
   * 9.2.1), or finds out who asks.
   */
  get isInVain(): boolean {
    const { method } = this.#req;
    return this.isGone && (method === 'GET' || method === 'HEAD' || this.#isBeingIdentified);
  }

  /** Until `requirePresence`, the request changes nothing. */
  beginIdentification(): void {
    this.#isBeingIdentified = true;
  }

  /**
   * Ends a request that has changed nothing yet, if its client has gone.
   * @throws CallerGoneError
   */
  requirePresence(): void {
    if (this.isGone) throw new CallerGoneError();
    this.#isBeingIdentified = false;
  }

  /** Closes the connection, because the client reads its response too slowly. */
  cutOff(): void {
    this.#req.socket.destroy();
  }

  /** Aborts when the response is sent or the client has gone. Created on first use, because few requests wait. */
  get over(): AbortSignal {
    return (this.#over ??= signalEnd(this.#req, this.#res));
  }
}

/** The reason of all signals. The default one is a new exception with a stack for each. */
const OVER = new Error('The request is over.');

function signalEnd({ socket }: IncomingMessage, res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const end = () => {
    res.off('close', end);
    socket.off('close', end);
    controller.abort(OVER);
  };
  if (res.closed || socket.destroyed) controller.abort(OVER);
  else {
    res.once('close', end);
    // A pipelined response has no connection yet, and is not told when it closes.
    socket.once('close', end);
  }
  return controller.signal;
}

const callers = new AsyncLocalStorage<RequestCaller | undefined>();

/** Runs the work of a request. Its caller is passed as async context, because every query would need it otherwise. */
export const runFor = <Result>(caller: RequestCaller, work: () => Result): Result => callers.run(caller, work);

/** Runs work that a request starts and does not wait for, so that it does not end with the request. */
export const runInBackground = <Result>(work: () => Result): Result => callers.run(undefined, work);

/** Returns the caller of the current request; undefined for jobs and the command line. */
export const currentCaller = (): RequestCaller | undefined => callers.getStore();
