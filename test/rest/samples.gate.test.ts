import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { API_FACE } from '../../src/rest/api-face.ts';
import { describeFace } from '../../src/rest/describe-face.ts';
import { OPERATOR_FACE } from '../../src/rest/operator-face.ts';
import { apiRouter, operatorRouter } from '../../src/router.ts';

type Sample = { label: string; source: string };
type Operation = {
  operationId: string;
  requestBody?: { content: Record<string, { example?: unknown }> };
  'x-codeSamples': Sample[];
};
type Sent = { method: string; url: string; authorization: string; body: unknown };

/** Stands for `requests`, and for the file of an upload: prints what would be sent. */
const PYTHON = `
import io, json, os, sys, types
def record(method):
    def send(url, headers, json=None, data=None):
        sent.append({"method": method, "url": url, "authorization": headers["Authorization"], "body": json})
        return types.SimpleNamespace(raise_for_status=lambda: None, json=lambda: {})
    return send
names = ["get", "post", "put", "patch", "delete"]
sys.modules["requests"] = types.SimpleNamespace(**{name: record(name.upper()) for name in names})
sent = []
for source in json.loads(sys.argv[1]):
    exec(source, {"open": lambda *_: io.BytesIO()})
print(json.dumps(sent))
`;

/** Stands for `curl`: prints its arguments, each ended by NUL, and the sample by an empty one. */
const BASH = `curl() { printf '%s\\0' "$@" ''; }`;

const env = { ...process.env, ROSTER_KEY: 'secret', ROSTER_OPERATOR_KEY: 'secret' };
const run = async (file: string, ...args: string[]) => (await promisify(execFile)(file, args, { env })).stdout;

/** Reads the arguments of curl as it does. */
function parseCurl(words: readonly string[]): Sent {
  const after = (option: string) => words.flatMap((word, i) => (words[i - 1] === option ? [word] : []));
  const [url = ''] = words.filter((word) => word.startsWith('https://'));
  const [method = 'GET'] = after('-X');
  const [authorization = ''] = after('-H').flatMap((header) => /^Authorization: (.*)$/.exec(header)?.[1] ?? []);
  const [body] = after('-d');
  return { method, url, authorization, body: body === undefined ? null : JSON.parse(body) };
}

// Guarantees that what a reader copies is what the interface takes, whatever is in an example.
test.each([
  ['the REST API', describeFace(API_FACE, apiRouter, 'https://roster.test')],
  ['the operator API', describeFace(OPERATOR_FACE, operatorRouter, 'https://roster.test')],
] as const)('the samples of %s for curl and Python send the example to the operation', async (_name, { document }) => {
  const operations = Object.values(document.paths ?? {}).flatMap(
    (item) => Object.entries(item) as [string, Operation][],
  );
  const sources = (label: string) =>
    operations.map(([, operation]) => operation['x-codeSamples'].find((one) => one.label === label)?.source ?? '');
  const python = JSON.parse(await run('python3', '-c', PYTHON, JSON.stringify(sources('Python')))) as Sent[];
  const curl = (await run('bash', '-euc', [BASH, ...sources('curl')].join('\n')))
    .split('\0\0')
    .filter((sample) => sample !== '')
    .map((sample) => parseCurl(sample.split('\0')));

  const expected = operations.map(([method, { operationId, requestBody }]) => ({
    operationId,
    method: method.toUpperCase(),
    authorization: 'Bearer secret',
    body: requestBody?.content['application/json']?.example ?? null,
    url: expect.stringMatching(/^https:\/\/roster\.test\/(?:api|operator)\/v1\/[^{}]+$/),
  }));
  const named = (all: readonly Sent[]) => all.map((one, i) => ({ operationId: expected[i]?.operationId, ...one }));
  expect(named(python)).toEqual(expected);
  expect(named(curl)).toEqual(expected);
});
