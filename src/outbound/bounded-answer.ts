import type { ClientRequest, IncomingMessage } from 'node:http';

/** The bound of each header section; that of each informational answer, too. */
export const HEADER_BYTES_MAX = 8 * 1024;
/** How many informational answers (1xx) can come before the answer. Servers send one or two. */
const INFORMATIONAL_MAX = 8;
/** What can be sent beside the body: headers, and the sizes of chunks. */
const FRAMING_BYTES_MAX = (INFORMATIONAL_MAX + 2) * HEADER_BYTES_MAX;
/** The same, as a part of the body. A chunk of one byte takes six, each of which costs a call of the parser. */
const FRAMING_SHARE = 0.25;

/**
 * Fails a request whose receiver sends without end before its answer: each informational answer resets the parser's
 * bound of the headers, and line ends before one are not counted.
 */
export function boundBeforeAnswer(req: ClientRequest): void {
  let count = 0;
  req.on('information', () => {
    count += 1;
    if (count > INFORMATIONAL_MAX)
      req.destroy(new Error(`The server sent more than ${INFORMATIONAL_MAX} informational answers.`));
  });
  req.once('socket', (socket) => {
    const checkBytes = () => {
      if (socket.bytesRead > FRAMING_BYTES_MAX)
        req.destroy(new Error(`The server sent more than ${FRAMING_BYTES_MAX} bytes before an answer.`));
    };
    socket.on('data', checkBytes);
    req.once('response', () => socket.off('data', checkBytes));
  });
}

/**
 * Yields the body of an answer.
 * @throws RangeError if it is sent in so many small pieces that reading them would delay other work
 */
export async function* readPieces(res: IncomingMessage): AsyncGenerator<Buffer> {
  let length = 0;
  // Chunks are bytes, because no encoding is set.
  for await (const chunk of res as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (res.socket.bytesRead > length * (1 + FRAMING_SHARE) + FRAMING_BYTES_MAX)
      throw new RangeError('The server sent its answer in too many pieces.');
    yield chunk;
  }
}
