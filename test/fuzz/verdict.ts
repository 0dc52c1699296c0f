import type { Answer } from '../support/client.ts';
import type { Described } from './document.ts';
import { isWellWritten, type Draft, type Written } from './requests.ts';
import type { World } from './world.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Statuses of whatever can be wrong with a request before anybody knows which operation it is. */
const ANYWHERE = [400, 401, 403, 404, 405, 413, 415, 431];

/** Why an answer is not the one that the document promises to this request, or undefined. */
export function faultOf(
  operation: Described,
  draft: Draft,
  sent: Written,
  answer: Answer,
  world: World,
): string | undefined {
  const { status, headers, body } = answer;
  if (status >= 500) return 'a fault of ours';
  const rate = ['limit', 'remaining', 'reset'].map((name) => headers[`ratelimit-${name}`]);
  if (rate.some((value) => !/^\d+$/.test(String(value)))) return 'the rate headers are no numbers';
  const id = sent.headers['x-request-id'];
  if (typeof id === 'string' && /^[\w.-]{1,128}$/.test(id) !== (headers['x-request-id'] === id))
    return 'another request id';
  if (headers['access-control-allow-credentials'] !== undefined) return 'credentials across origins';

  const isPlain =
    draft.twist === 'none' &&
    [operation.method, ...(operation.method === 'GET' ? ['HEAD'] : [])].includes(draft.method);
  const isTwisted = draft.twist !== 'none' || draft.method !== operation.method;
  if (isTwisted && !isPlain)
    return [200, 201, 204, ...ANYWHERE].includes(status) ? undefined : 'a status that is not declared';
  const expected = expectedOf(operation, draft, sent, world);
  if (!expected.includes(status)) return `expected ${expected.join(' or ')}`;
  if (status === 400 && expected.includes(operation.success) && !isOfTheTeam(body)) return 'the document allows this';
  return undefined;
}

/** The roles of a team are not in the document, so those it does not have are no fault that it could tell. */
const isOfTheTeam = ({ errors = [] }: { errors?: { pointer: string }[] }): boolean =>
  errors.length > 0 && errors.every(({ pointer }) => pointer === '/roleId' || pointer === '/isSystemRole');

/** The statuses that are right, by the document and in the order of checks. */
function expectedOf(operation: Described, draft: Draft, sent: Written, world: World): number[] {
  const { scopes, audience, isFading = false } = world.credentials[draft.credential];
  const fading = isFading ? [401, 403] : [];
  if (scopes === null || !isWellWritten(draft)) return [401];
  const lacks = operation.scope !== undefined && !scopes.some((scope) => scope === operation.scope);
  if (lacks || (operation.isAccountLevel && audience === 'team')) return [403, ...fading];
  const refusals = refusalsOf(operation, draft, sent);
  if (refusals.length > 0) return [...refusals, ...fading];
  return [operation.success, 400, 403, 404, ...fading];
}

/** 400, 413 and 415, where the document does not allow the request. */
function refusalsOf(operation: Described, draft: Draft, { path, headers, body }: Written): number[] {
  const refusals = new Set<number>();
  if (!areAllowed(operation, path)) refusals.add(400);
  if (operation.body === undefined) return [...refusals];
  const sends = body !== undefined && body.length > 0;
  const type = String(headers['content-type'] ?? '');
  const coding = headers['content-encoding'] ?? 'identity';
  if (sends && (!type.startsWith('application/json') || /latin1/.test(type) || coding !== 'identity')) return [415];
  // What is not read is not validated, and nothing beside it.
  if (sends && body.length > 100 * 1024) return [413];
  const read = sends ? parse(Buffer.from(body)) : undefined;
  if (!operation.allows(read) || !isObject(read) || !isText(operation, read)) refusals.add(400);
  // An empty body in chunks is one of some type.
  if (!sends && ('transfer-encoding' in headers || 'expect' in headers)) refusals.add(415);
  return [...refusals];
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What PostgreSQL cannot keep is refused where it is asked for, and JSON Schema has no word for it. */
const isText = ({ bodyMembers }: Described, value: unknown): boolean =>
  Object.entries(value as object).every(
    ([name, member]) => !bodyMembers.includes(name) || typeof member !== 'string' || isStorable(member),
  );

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000');

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}

/** Whether the document allows what stands in the path and the query. */
function areAllowed({ template, pathParams, queryParams, allowsParam }: Described, target: string): boolean {
  const [path = '', query = ''] = target.split(/\?(.*)/s);
  const values = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '([^/]*)')}$`).exec(path)?.slice(1) ?? [];
  const inPath = pathParams.map((name, i): [string, string] => [name, values[i] ?? '']);
  const inQuery = query.split('&').map((pair): [string, string] => {
    const [name = '', ...rest] = pair.replaceAll('+', ' ').split('=');
    return [decoded(name) ?? '', rest.join('=')];
  });
  const given = [...inPath, ...inQuery.filter(([name]) => queryParams.includes(name))];
  const isDoubled = new Set(given.map(([name]) => name)).size < given.length;
  return (
    !isDoubled &&
    given.every(([name, raw]) => {
      const value = decoded(raw);
      return value !== undefined && isStorable(value) && allowsParam(name, value);
    })
  );
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
