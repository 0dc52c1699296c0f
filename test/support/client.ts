import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import type { Contract } from './contract.ts';

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed where it is JSON; tests look into it as they know it. */
  // eslint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly text: string;
};

export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Sent as it is. */
  readonly body?: string | Buffer;
};

export type Caller = {
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  patch(path: string, body?: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** A request as written, for what the verbs above cannot say. */
  send(sent: Sent): Promise<Answer>;
};

/** Calls a running service; every answer under `/api/v1` is checked against the document it serves. */
export function createClient(port: number, contract: Contract | undefined) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });

  async function send(sent: Sent): Promise<Answer> {
    const answer = await exchange(port, agent, sent);
    contract?.check(sent.method, sent.path, answer);
    return answer;
  }

  const as = (credential: { secret: string } | string | null): Caller => {
    const secret = credential === null ? null : typeof credential === 'string' ? credential : credential.secret;
    const authorization: Record<string, string> = secret === null ? {} : { authorization: `Bearer ${secret}` };
    const withBody = (method: string, path: string, body: unknown) =>
      send({
        method,
        path,
        headers: { ...authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body ?? {}),
      });
    return {
      get: (path) => send({ method: 'GET', path, headers: authorization }),
      post: (path, body) => withBody('POST', path, body),
      patch: (path, body) => withBody('PATCH', path, body),
      delete: (path) => send({ method: 'DELETE', path, headers: authorization }),
      send: (sent) => send({ ...sent, headers: { ...authorization, ...sent.headers } }),
    };
  };

  return { as, anonymous: as(null), close: () => agent.destroy() };
}

function exchange(port: number, agent: Agent, { method, path, headers = {}, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length =
      body === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const req = request({ host: '127.0.0.1', port, agent, method, path, headers: { ...length, ...headers } }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: parsed(res.headers, text), text });
      });
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** The value of a JSON text; a text that only says it is one stays as it is, for the test to find out. */
function parsed(headers: IncomingHttpHeaders, text: string): unknown {
  if (!/[/+]json/.test(headers['content-type'] ?? '')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
