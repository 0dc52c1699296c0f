import { describe, expect, test } from 'vitest';
import { authenticate } from '../../src/auth/authenticate.ts';
import { createTokens } from '../../src/crypto/tokens.ts';
import { SCOPES } from '../../src/entities/index.ts';
import { aPermission } from '../trpc/product-permissions.ts';
import { anId, anInstant, rosterOfItsOwn } from './roster.ts';

const roster = await rosterOfItsOwn();

type Created = { key: { id: string; scopes: string[]; createdAt: string; expiresAt: string }; secret: string };

const TEAM_SCOPES = ['teams:read', 'teams:write', 'members:read', 'members:write', 'invites:write', 'billing:read'];
const DAY_MS = 24 * 60 * 60 * 1000;

const principalOf = async (secret: string) =>
  (await authenticate(roster.db, createTokens('rst'), secret, null)).principal;

describe('key create', () => {
  test('prints a personal key and the secret that works', async () => {
    const { id, email } = await roster.account();

    const created = await roster.json<Created>(
      'key',
      'create',
      '--email',
      email.toLowerCase(),
      '--name',
      'Backup',
      '--scopes',
      'teams:write, profile:read,teams:write',
    );

    expect(created).toEqual({
      key: {
        id: anId('key'),
        name: 'Backup',
        keyPrefix: created.secret.slice(0, 13),
        last4: created.secret.slice(-4),
        scopes: ['profile:read', 'teams:write'],
        permissions: [],
        teamId: null,
        createdAt: anInstant,
        lastUsedAt: null,
        expiresAt: null,
      },
      secret: expect.stringMatching(/^rst_pk_[0-9A-Za-z]{49}$/),
    });
    expect(await principalOf(created.secret)).toMatchObject({
      accountId: id,
      credentialId: created.key.id,
      teamId: null,
    });
  });

  test('all scopes are those that the kind of key can hold', async () => {
    const owner = await roster.account();
    const team = await roster.team(owner);

    const [personal, ofTeam] = await Promise.all([
      roster.json<Created>('key', 'create', '--email', owner.email, '--scopes', 'all'),
      roster.json<Created>('key', 'create', '--email', owner.email, '--scopes', 'all', '--team', team.id),
    ]);

    expect(personal.key.scopes).toEqual(SCOPES);
    expect(ofTeam).toMatchObject({
      key: { scopes: TEAM_SCOPES, teamId: team.id },
      secret: expect.stringMatching(/^rst_tk_/),
    });
    expect(await principalOf(ofTeam.secret)).toMatchObject({ accountId: owner.id, teamId: team.id });
  });

  test('a key can have permissions of the product, and no scopes then', async () => {
    const { email } = await roster.account();
    const name = await aPermission({ services: { db: roster.db } as never }); // of which it needs the database alone
    const create = (...args: string[]) => roster.run('key', 'create', '--email', email, ...args, '--json');

    const [created, empty] = await Promise.all([create('--product-permissions', name), create()]);

    expect(JSON.parse(created.stdout).key).toMatchObject({ scopes: [], permissions: [name] });
    expect(empty.stderr).toBe('roster: --scopes: A key needs scopes or permissions.\n');
  });

  test('a key can end in days, at an instant, and in the past', async () => {
    const { email } = await roster.account();
    const create = (...args: string[]) =>
      roster.json<Created>('key', 'create', '--email', email, '--scopes', 'teams:read', ...args);

    const [inDays, ended] = await Promise.all([
      create('--expires-in-days', '30'),
      create('--expires-at', '2020-01-01T02:00:00+02:00'),
    ]);

    expect(Date.parse(inDays.key.expiresAt) - Date.parse(inDays.key.createdAt)).toBeCloseTo(30 * DAY_MS, -4);
    expect(ended.key.expiresAt).toBe('2020-01-01T00:00:00.000Z');
    expect(await principalOf(ended.secret)).toBeNull();
  });

  test('rejects missing scopes, accounts that are no members, and invalid times', async () => {
    const [owner, stranger] = await Promise.all([roster.account(), roster.account()]);
    const team = await roster.team(owner);
    const create = (email: string, ...args: string[]) => roster.refusal('key', 'create', '--email', email, ...args);

    const lines = await Promise.all([
      create(owner.email, '--scopes', 'teams:fly'),
      create(owner.email, '--scopes', ''),
      create(owner.email, '--scopes', 'all', '--expires-in-days', '366'),
      create(owner.email, '--scopes', 'all', '--expires-in-days', '3', '--expires-at', '2030-01-01T00:00:00Z'),
      create(owner.email, '--team', team.id, '--scopes', 'teams:read,profile:read'),
      create(stranger.email, '--team', team.id, '--scopes', 'teams:read'),
      create(owner.email, '--team', 'team_none', '--scopes', 'teams:read'),
    ]);

    expect(lines).toEqual([
      expect.stringMatching(
        /--scopes.*There is no scope teams:fly; the scopes are profile:read, .*, api-keys:write\.$/,
      ),
      expect.stringMatching(/--scopes.*Name at least one scope of profile:read/),
      expect.stringMatching(/--expires-in-days.*whole number from 1 to 365/),
      expect.stringMatching(/--expires-in-days.*cannot be used with option '--expires-at/),
      '--scopes: A team key cannot hold profile:read.',
      `--team: ${stranger.email} is not a member of this team`,
      '--team: team team_none does not exist',
    ]);
    expect(await roster.rows('select id from api_key where account_id in ($1, $2)', [owner.id, stranger.id])).toEqual(
      [],
    );
  });
});
