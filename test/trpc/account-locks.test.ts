import pg from 'pg';
import { describe, expect } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { anInvitationWithLink, as, outcomeOf, withKey, type Trpc } from './console.ts';
import { aPermission } from './product-permissions.ts';

const CLIENT = {
  name: 'Reports',
  redirectUris: ['https://reports.example/callback'],
  isNative: false,
  isConfidential: true,
};

async function aScene(api: Api) {
  const caller = await api.anAccount();
  const team = await api.aTeam();
  const trpc = await as(api, caller);
  const { client } = await trpc.oauthClients.create.mutate(CLIENT);
  return {
    caller,
    key: await api.anApiKey(caller, { scopes: SCOPES }),
    grant: await api.aGrant(caller, { scopes: SCOPES }),
    invitation: await anInvitationWithLink(api, team, { email: caller.email }),
    clientId: client.id,
    permission: await aPermission(api),
    trpc,
  };
}

type Scene = Awaited<ReturnType<typeof aScene>>;
type Change = { readonly name: string; readonly call: (trpc: Trpc, scene: Scene) => Promise<unknown> };

const CHANGES: readonly Change[] = [
  { name: 'updateMe', call: (trpc) => trpc.updateMe.mutate({ firstName: 'Late', lastName: 'Caller' }) },
  { name: 'createTeam', call: (trpc) => trpc.createTeam.mutate({ name: 'Late' }) },
  { name: 'createApiKey', call: (trpc) => trpc.createApiKey.mutate({ name: 'Late', scopes: ['teams:read'] }) },
  {
    name: 'updateApiKey',
    call: (trpc, { key }) => trpc.updateApiKey.mutate({ keyId: key.id, scopes: ['teams:read'] }),
  },
  {
    name: 'apiKeys.create',
    call: (trpc) => trpc.apiKeys.create.mutate({ name: 'Late', scopes: ['teams:read'] }),
  },
  {
    name: 'apiKeys.setPermissions',
    call: (trpc, { key, permission }) =>
      trpc.apiKeys.setPermissions.mutate({ keyId: key.id, permissions: [permission] }),
  },
  { name: 'apiKeys.rotate', call: (trpc, { key }) => trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 0 }) },
  { name: 'account.updateProfile', call: (trpc) => trpc.account.updateProfile.mutate({ preferredLocale: 'de' }) },
  {
    name: 'account.changePassword',
    call: (trpc) => trpc.account.changePassword.mutate({ newPassword: 'wandering heron 42' }),
  },
  {
    name: 'account.changeEmail',
    call: (trpc) => trpc.account.changeEmail.mutate({ newEmail: `late-${crypto.randomUUID()}@example.com` }),
  },
  { name: 'account.delete', call: (trpc) => trpc.account.delete.mutate() },
  { name: 'passkeys.registrationOptions', call: (trpc) => trpc.passkeys.registrationOptions.mutate() },
  { name: 'oauthClients.create', call: (trpc) => trpc.oauthClients.create.mutate({ ...CLIENT, name: 'Late' }) },
  {
    name: 'oauthClients.update',
    call: (trpc, { clientId }) => trpc.oauthClients.update.mutate({ clientId, name: 'Late' }),
  },
  {
    name: 'oauthClients.rotateSecret',
    call: (trpc, { clientId }) => trpc.oauthClients.rotateSecret.mutate({ clientId, overlapHours: 0 }),
  },
  {
    name: 'oauthClients.delete',
    call: (trpc, { clientId }) => trpc.oauthClients.delete.mutate({ clientId }),
  },
  { name: 'invitations.accept', call: (trpc, { invitation: { token } }) => trpc.invitations.accept.mutate({ token }) },
];

/** What the changes write, except the session and the account's status, which the tests change themselves. */
const stateOf = (api: Pick<Api, 'rows'>, { id }: { id: string }) =>
  api.rows(
    `select
       (select to_jsonb(a) - 'disabled_at' from account a where id = $1) as account,
       (select count(*)::int from session where account_id = $1) as sessions,
       (select jsonb_agg(to_jsonb(m) order by m.id) from membership m where account_id = $1) as memberships,
       (select jsonb_agg(to_jsonb(k) order by k.id) from api_key k where account_id = $1) as keys,
       (select count(*)::int from api_key_secret s join api_key k on k.id = s.api_key_id where account_id = $1) as secrets,
       (select jsonb_agg(to_jsonb(c) order by c.id) from oauth_client c where account_id = $1) as clients,
       (select jsonb_agg(to_jsonb(s) order by s.secret_hash)
        from oauth_client_secret s join oauth_client c on c.id = s.client_id
        where c.account_id = $1) as client_secrets,
       (select count(*)::int from passkey_challenge where account_id = $1) as challenges,
       (select count(*)::int from account_token where account_id = $1) as tokens,
       (select count(*)::int from graphile_worker._private_jobs j where j.payload::text like '%' || $1 || '%') as jobs`,
    [id],
  );

/** Makes a change wait for the lock of the caller's account, commits another statement, and lets it continue. */
async function whileWaiting(api: Api, { call }: Change, statement: string | null, prepare?: string) {
  const scene = await aScene(api);
  if (prepare !== undefined) await api.rows(prepare, [scene.caller.id]);
  const { id } = scene.caller;
  const before = await stateOf(api, scene.caller);
  const other = new pg.Client({ connectionString: api.databaseUrl });
  await other.connect();
  try {
    await other.query('begin');
    await other.query('select from account where id = $1 for update', [id]);
    const outcome = outcomeOf(call(scene.trpc, scene));
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(() => api.rows(waiting), { interval: 5 }).not.toEqual([]);
    if (statement !== null) await other.query(statement, [id]);
    await other.query('commit');
    return { outcome: await outcome, before, after: await stateOf(api, scene.caller) };
  } finally {
    await other.end();
  }
}

describe('a change of the caller’s account that waits for the lock of the account', () => {
  test.for(CHANGES)('$name is 401 if the account was disabled, and changes nothing', async (change, { api }) => {
    const disable = 'update account set disabled_at = now() where id = $1';
    const { outcome, before, after } = await whileWaiting(api, change, disable);

    expect(outcome).toBe('credential_invalid');
    expect(after).toEqual(before);
  });

  // Without this, the tests above would pass for changes that fail for another reason.
  test.for(CHANGES)('$name succeeds if nothing else was committed', async (change, { api }) => {
    const { outcome, before, after } = await whileWaiting(api, change, null);

    expect(outcome).toBe('done');
    expect(after).not.toEqual(before);
  });
});

const BEARER_CHANGES: readonly { readonly name: string; readonly change: (trpc: Trpc) => Promise<unknown> }[] = [
  { name: 'createTeam', change: (trpc) => trpc.createTeam.mutate({ name: 'Late' }) },
  { name: 'updateMe', change: (trpc) => trpc.updateMe.mutate({ firstName: 'Late', lastName: 'Caller' }) },
];

describe.for<{ name: string; credential: 'key' | 'grant'; prepare?: string; end: string }>([
  {
    name: 'an API key whose grant is revoked',
    credential: 'key',
    prepare: `update api_key k set oauth_grant_id = g.id from oauth_grant g
              where k.account_id = $1 and g.account_id = k.account_id`,
    end: 'update oauth_grant set revoked_at = now() where account_id = $1',
  },
])('a change of the account that waits for its lock, by $name', ({ credential, prepare, end }) => {
  const withCredential =
    (api: Api, change: (trpc: Trpc) => Promise<unknown>): Change['call'] =>
    (_trpc, scene) =>
      change(withKey(api, scene[credential]));

  test.for(BEARER_CHANGES)(
    '$name is 401 if that was meanwhile, and changes nothing',
    async ({ name, change }, { api }) => {
      const call = withCredential(api, change);
      const { outcome, before, after } = await whileWaiting(api, { name, call }, end, prepare);

      expect(outcome).toBe('credential_invalid');
      expect(withoutKeys(after)).toEqual(withoutKeys(before));
    },
  );

  test.for(BEARER_CHANGES)('$name succeeds if nothing changed concurrently', async ({ name, change }, { api }) => {
    const call = withCredential(api, change);

    expect((await whileWaiting(api, { name, call }, null, prepare)).outcome).toBe('done');
  });
});

/** The tests revoke the keys themselves. */
const withoutKeys = ([state]: Awaited<ReturnType<typeof stateOf>>) => ({ ...(state as object), keys: null }); // one row
