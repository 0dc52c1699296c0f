import { inChange } from '../support/in-change.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { CLEANUPS } from '../../src/jobs/cleanup.ts';
import { revokeSessions } from '../../src/resources/sessions/sessions.service.ts';
import { startApi, testWith } from '../support/api.ts';
import { anOwner } from '../trpc/sessions-started.ts';
import { firstPartyTokens, sessionOf } from './first-party-flow.ts';
import { aToldClient, ENDINGS, waitingJobs } from './logout-jobs.ts';

const test = testWith(() => startApi());

/** The files of `src` that end sessions. */
function listEndings(): string[] {
  const root = new URL('../../src/', import.meta.url);
  const ends = /\b(?:revokeSessions|revokeReplacedSession|endLocked)\(|endSessions\(tx|logoutJobs\('/;
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && ends.test(readFileSync(new URL(name, root), 'utf8')))
    .toSorted();
}

describe('the end of a session', () => {
  test('is known in every place that ends one', () => {
    expect(listEndings()).toEqual(Object.keys(ENDINGS).toSorted());
    const written = readdirSync(new URL('../../src/', import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .filter((name) =>
        /update session\b[^`]*revoked_at =|delete from session\b|native(?:Update|Delete)\(Session\b/.test(
          readFileSync(new URL(`../../src/${name}`, import.meta.url), 'utf8'),
        ),
      );
    expect(written).toEqual(['resources/sessions/sessions.service.ts']);
  });

  for (const [file, ways] of Object.entries(ENDINGS)) {
    for (const [name, end] of Object.entries(ways)) {
      test(`is queued for its clients: ${name} (${file})`, async ({ api }) => {
        const client = await aToldClient(api);
        const silent = await api.anOAuthClient({ confidential: true, firstParty: ['teams:read'] });
        const owner = await anOwner(api);
        const visitor = owner.home;
        const { body } = await firstPartyTokens(api, { client, visitor }, { scope: 'openid' });
        await firstPartyTokens(api, { client, visitor }, { scope: 'openid' });
        await firstPartyTokens(api, { client: silent, visitor }, { scope: 'openid' });
        const sessionId = await sessionOf(api, visitor);
        await api.rows('delete from graphile_worker._private_jobs');
        await end(api, { client, owner, visitor, idToken: body['id_token'] ?? '' });
        const [job, ...others] = await waitingJobs(api, client);
        expect(others).toEqual([]);
        expect(job?.payload).toMatchObject({ accountId: owner.id, clientId: client.id });
        if (name !== 'revoked after a change of the password') expect(job?.payload.sessionId).toBe(sessionId);
      });
    }
  }

  test('is queued in its own transaction: not if that rolls back', async ({ api }) => {
    const client = await aToldClient(api);
    const owner = await anOwner(api);
    await firstPartyTokens(api, { client, visitor: owner.home }, { scope: 'openid' });
    const id = await sessionOf(api, owner.home);
    const undone = inChange(api.services.db, async (tx) => {
      expect(await revokeSessions(tx, { id }, 'signed out')).toBe(1);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await waitingJobs(api, client)).toEqual([]);
  });

  test('by expiry is found once, also after use moved it, and before its row is deleted', async ({ api }) => {
    const client = await aToldClient(api);
    const owner = await anOwner(api);
    await firstPartyTokens(api, { client, visitor: owner.home }, { scope: 'openid' });
    const id = await sessionOf(api, owner.home);
    const run = (name: 'cleanup_logins' | 'cleanup_sessions') => api.rows(CLEANUPS[name].batch(api.services.config));
    await run('cleanup_logins');
    expect(await waitingJobs(api, client)).toEqual([]);
    const [family] = await api.rows<{ is_moved: boolean }>(
      'select f.logout_check_at = s.idle_expires_at as is_moved from oauth_token_family f join session s on s.id = f.session_id where s.id = $1',
      [id],
    );
    expect(family).toEqual({ is_moved: true });
    await api.rows(
      `update session set expires_at = now() - interval '8 days', idle_expires_at = now() - interval '8 days' where id = $1`,
      [id],
    );
    await api.rows(`update oauth_token_family set logout_check_at = now() - interval '8 days' where session_id = $1`, [
      id,
    ]);
    await run('cleanup_sessions');
    expect(await api.rows('select from session where id = $1', [id])).toHaveLength(1);
    await run('cleanup_logins');
    await run('cleanup_logins');
    expect(await waitingJobs(api, client)).toHaveLength(1);
    await run('cleanup_sessions');
    expect(await api.rows('select from session where id = $1', [id])).toEqual([]);
  });
});
