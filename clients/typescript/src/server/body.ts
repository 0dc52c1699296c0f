import { RosterAccessError } from './errors.ts';

const tooLarge = () => new RosterAccessError(413, 'body_too_large', 'The body is too large.');

/** Reads the body of a request. @throws RosterAccessError (413 or 400) if it has more bytes, or does not arrive */
export async function readBody(request: Request, bytesMax: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length')) > bytesMax) throw tooLarge();
  const reader = request.body?.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { value } = (await reader?.read().catch((cause: unknown) => {
      throw new RosterAccessError(400, 'invalid_request', 'The body did not arrive.', { cause });
    })) ?? { value: undefined };
    if (value === undefined) break;
    length += value.length;
    if (length > bytesMax) {
      void reader?.cancel();
      throw tooLarge();
    }
    chunks.push(value);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

/** The body of a request of the kit's own pages and of Roster, which is short. */
export const readText = async (request: Request): Promise<string> =>
  new TextDecoder().decode(await readBody(request, 64 * 1024));
