import { PUBLIC_NETWORK, type Network } from '../outbound/network.ts';
import { sendOutbound, type OutboundResponse } from '../outbound/request.ts';

const BODY_BYTES_MAX = 5 * 1024;
const TIMEOUT_MS = 2500;

/**
 * Fetches the metadata document of a client. Its URL is untrusted, so the request goes only to public IP addresses, over
 * verified TLS, and carries no credentials. Redirects are not followed.
 * @returns the response; its body is null unless the status is 200
 * @throws if the URL is not allowed, or the response is too large, too slow or not JSON
 */
export async function fetchClientDocument(
  url: string | URL,
  options: RequestInit = {},
  network: Network = PUBLIC_NETWORK,
): Promise<Response> {
  const target = new URL(url);
  if (target.protocol !== 'https:') throw new TypeError('Client documents are fetched only over https.');
  if ((options.method ?? 'GET') !== 'GET') throw new TypeError('Client documents are fetched only with GET.');
  const headers = {
    accept: new Headers(options.headers).get('accept') ?? 'application/json',
    'accept-encoding': 'identity',
  };
  const { signal } = options;
  return sendOutbound(target, { method: 'GET', headers, timeoutMs: TIMEOUT_MS, signal, read: toResponse }, network);
}

/** Converts a response to that of the Fetch API. The body is read only for status 200. */
async function toResponse(res: OutboundResponse): Promise<Response> {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(res.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const status = res.statusCode ?? 0;
  if (status !== 200) return new Response(null, { status, headers });
  if (!JSON_TYPE.test(headers.get('content-type') ?? '')) throw new TypeError('The client document is not JSON.');
  return new Response(preferPublic(await readBody(res)), { status, headers });
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

async function readBody(res: OutboundResponse): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of res.readBody()) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new RangeError(`The client document has more than ${BODY_BYTES_MAX} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/**
 * Makes a client public that can authenticate with a key, and without one: the service offers no `private_key_jwt`.
 * ChatGPT's document says so in `token_endpoint_auth_methods_supported` (OpenID Connect RP Metadata Choices 1.0, section 2).
 */
function preferPublic(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder().decode(body));
  } catch {
    return body; // oidc-provider says so
  }
  const { token_endpoint_auth_methods_supported: methods } = (document ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(methods) || !methods.includes('none')) return body;
  return new Uint8Array(
    Buffer.from(JSON.stringify({ ...(document as object), token_endpoint_auth_method: 'none' })), // it has a member
  );
}
