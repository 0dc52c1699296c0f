import type { Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';
import { ALL_SCOPES, type Operation } from './operations.ts';

export type Fault = { in: string; pointer: string; code: string; params?: Record<string, string | number> };
type Cases = Readonly<Record<string, unknown>>;

/** A member that is not sent at all. */
export const ABSENT = undefined;
export const required = { code: 'required' };
export const atLeast = (min: number) => ({ code: 'min_length', params: { min } });
export const atMost = (max: number) => ({ code: 'max_length', params: { max } });
export const notA = (expected: string) => ({ code: 'invalid_type', params: { expected } });
export const NO_TEXT = { code: 'invalid_format', params: { format: 'unicode' } };

/** U+1D4B3: one code point, two UTF-16 units, four bytes. */
export const ASTRAL = '𝒳';
export const NOT_STORABLE = {
  NUL: 'a\u0000a',
  'a high surrogate': 'aa\ud800',
  'a low surrogate': '\udc00aa',
  'surrogates reversed': '\udc00\ud800',
};

/** An owner with a team, a key of everything to call with, and another key to change. */
export async function anOwner(api: Api) {
  const account = await api.anAccount();
  const [team, caller, other] = await Promise.all([
    api.aTeam({ owner: account }),
    api.anApiKey(account, { scopes: ALL_SCOPES }),
    api.anApiKey(account),
  ]);
  const ids: Record<string, string> = {
    teamId: team.id,
    keyId: other.id,
    userId: 'u',
    invitationId: 'i',
    sessionId: 's',
  };
  const pathOf = ({ path }: Operation, own = ids) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(own[name] ?? ''));
  const authorization = `Bearer ${caller.secret}`;
  const send = (operation: Operation, body: string | undefined, path = pathOf(operation)) =>
    body === undefined
      ? api.as(caller).send({ method: operation.method, path })
      : api.anonymous.send({
          method: operation.method,
          path,
          headers: { authorization, 'content-type': 'application/json' },
          body,
        });
  return { account, team, caller, ids, pathOf, send };
}

/** The entries of a validation failure, else what the answer is. */
export const faultsOf = ({ status, body }: Answer): Fault[] | string =>
  body.code === 'validation_failed' ? (body.errors as Fault[]) : [status, body.code].filter(Boolean).join(' ');

/** Sends each value as one member of a body that is valid but for it, and says what became of each. */
export async function outcomes(
  api: Api,
  operation: Operation,
  member: string,
  values: Cases,
): Promise<Record<string, unknown>> {
  const owner = await anOwner(api);
  const answers = Object.entries(values).map(async ([name, value]) => {
    const answer = await owner.send(operation, JSON.stringify({ ...operation.body, [member]: value }));
    return [name, faultsOf(answer)] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}

export const at = (pointer: string, fault: Omit<Fault, 'in' | 'pointer'>): Fault => ({ in: 'body', pointer, ...fault });
export const everywhere = (values: Cases, outcome: unknown) =>
  Object.fromEntries(Object.keys(values).map((name) => [name, outcome]));

export const NO_STRINGS = { null: null, number: 7, boolean: true, list: ['Rockets'], object: { name: 'Rockets' } };
