import { ProblemError } from '../problems/error.ts';
import { PUBLIC_NETWORK, type Network } from '../outbound/network.ts';
import { sendOutbound, type OutboundResponse } from '../outbound/request.ts';
import { PICTURE_BYTES_MAX } from './limits.ts';

const TIMEOUT_MS = 10_000;

/**
 * Fetches a file from a URL that a user chose, only from public IP addresses and without redirects.
 * @throws picture_unreachable (400), with one text for all causes, because they reveal what is behind an address
 */
export async function fetchPicture(
  url: string,
  signal: AbortSignal,
  network: Network = PUBLIC_NETWORK,
): Promise<Buffer> {
  const headers = { accept: 'image/webp,image/png,image/jpeg', 'accept-encoding': 'identity' };
  try {
    const target = new URL(url);
    return await sendOutbound(target, { method: 'GET', headers, timeoutMs: TIMEOUT_MS, signal, read }, network);
  } catch (cause) {
    signal.throwIfAborted();
    throw new ProblemError('picture_unreachable', undefined, { cause });
  }
}

async function read(res: OutboundResponse): Promise<Buffer> {
  if (res.statusCode !== 200) throw new Error(`The server answered ${res.statusCode}.`);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of res.readBody()) {
    size += chunk.length;
    if (size > PICTURE_BYTES_MAX) throw new RangeError(`The file has more than ${PICTURE_BYTES_MAX} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
