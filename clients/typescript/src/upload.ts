import { RosterError } from './errors.ts';
import { toQuery, type Input } from './methods.ts';

/**
 * The body of an upload. A function returns it for each attempt, such as `() => Readable.toWeb(createReadStream(file))`. A
 * stream is sent once, because it can be read once.
 */
export type Rows = RowsBody | (() => RowsBody | Promise<RowsBody>);
type RowsBody = string | Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** Divides the input of an upload into its query, and the body as it is sent. */
export type ToUpload = (input: Input) => {
  readonly query: string;
  readonly type: string;
  readonly isOnce: boolean;
  readonly read: (signal: AbortSignal) => Promise<RowsBody>;
  /** Returns what to reject with instead of an error of `fetch`. */
  readonly toError: (error: unknown) => unknown;
};

/** @throws TypeError if there are no rows, which would be sent as an import without any */
export const toUpload: ToUpload = ({ rows, ...query }) => {
  if (rows === undefined || rows === null) throw new TypeError('rows are missing.');
  const body = rows as Rows; // as the operation declares it
  return {
    query: toQuery(query),
    type: 'application/x-ndjson',
    isOnce: body instanceof ReadableStream,
    async read(signal) {
      const given = typeof body === 'function' ? await body() : body;
      // Node.js reads a stream to its end after a request was cancelled.
      return given instanceof ReadableStream ? given.pipeThrough(new TransformStream(), { signal }) : given;
    },
    toError(error) {
      const failed = error as { readonly cause?: { readonly code?: string } } | null; // of fetch, or a reason to abort
      if (!CLOSED.test(failed?.cause?.code ?? '')) return error;
      const detail = 'The connection was closed before a response, by a proxy or the network.';
      return Object.assign(new RosterError('upload_interrupted', { status: 0, detail }), { cause: error });
    },
  };
};

/** How Node.js says that the other side closed the connection. It then drops a response that it has not read. */
const CLOSED = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;
