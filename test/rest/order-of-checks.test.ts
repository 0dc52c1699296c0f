import { describe } from 'vitest';
import { test } from '../support/api.ts';
import type { Sent } from '../support/client.ts';
import {
  expectRefusals,
  MISSING,
  NO_PERMISSION,
  NO_TEAM,
  TOO_LONG,
  tooLongIds,
  withBody,
  without,
  type Attempt,
} from './attempts.ts';
import { KEYS_OF_A_TEAM, operationOf, OPERATIONS } from './operations.ts';

const INVALID_INPUT = '400 validation_failed';
const UNREADABLE = '415 unsupported_media_type';

describe('the input is checked after scope and audience, and before the team', () => {
  const someId = OPERATIONS.filter(({ path }) => path.includes('{'));
  const someBody = OPERATIONS.filter(({ body }) => body !== undefined);

  test.for([...someId, ...KEYS_OF_A_TEAM])(
    '$method $path: 400 for an id that is too long',
    async (operation, { api }) => {
      await expectRefusals(api, operation, {
        owner: [INVALID_INPUT, { ids: tooLongIds }],
        'nobody at all': [MISSING, { ids: tooLongIds, change: (sent) => ({ ...sent, headers: {} }) }],
      });
    },
  );

  test.for(['removeTeamMember', 'revokeTeamInvitation'])(
    '%s: 400 for an id that is too long in an unknown team',
    async (id, { api }) => {
      await expectRefusals(api, operationOf(id), {
        'unknown team': [INVALID_INPUT, { ids: { ...tooLongIds, teamId: 'team_unknown' } }],
        'no permission': [INVALID_INPUT, { ids: { userId: TOO_LONG, invitationId: TOO_LONG }, standing: 'guest' }],
      });
    },
  );

  test.for([...someBody, ...KEYS_OF_A_TEAM.slice(1)])(
    '$method $path: 400 for a body that is not valid',
    async (operation, { api }) => {
      const invalid = (sent: Sent) => withBody(sent, '{"name":7}');
      const unknown = { teamId: 'team_unknown', keyId: 'key_unknown' };

      await expectRefusals(api, operation, {
        owner: [INVALID_INPUT, { change: invalid }],
        guest: [INVALID_INPUT, { change: invalid, standing: 'guest' }],
        stranger: [INVALID_INPUT, { change: invalid, standing: 'stranger' }],
        'unknown team': [INVALID_INPUT, { change: invalid, ids: unknown }],
        'unknown team, no JSON': ['400 malformed_json', { change: (sent) => withBody(sent, '{'), ids: unknown }],
        'unknown team, text': [UNREADABLE, { change: (sent) => withBody(sent, '{}', 'text/plain'), ids: unknown }],
      });
    },
  );
});

describe('errors that depend on data of a team come last', () => {
  const everything = (body: object): Attempt => ({ change: (sent) => withBody(sent, JSON.stringify(body)) });
  const email = 'ada@example.com';

  test('createTeamInvitation: permission, then role, then whether it may be granted', async ({ api }) => {
    const unknownRole = everything({ email, roleId: 'role_unknown' });
    const mismatch = everything({ email, roleId: 'guest', isSystemRole: false });
    const owner = everything({ email, roleId: 'owner' });
    const beyond = everything({ email, roleId: 'member' });

    await expectRefusals(api, operationOf('createTeamInvitation'), {
      'no permission, unknown role': [NO_PERMISSION, { ...unknownRole, standing: 'member' }],
      'no permission, mismatch': [NO_PERMISSION, { ...mismatch, standing: 'member' }],
      'no permission, owner': [NO_PERMISSION, { ...owner, standing: 'member' }],
      'invisible, unknown role': [NO_TEAM, { ...unknownRole, standing: 'stranger' }],
      'unknown role': [INVALID_INPUT, unknownRole],
      mismatch: [INVALID_INPUT, mismatch],
      owner: ['403 role_not_assignable', owner],
      'more than one holds': ['403 role_not_assignable', { ...beyond, standing: ['invite_members'] }],
    });
  });

  test('createApiKey: permission, then account-only scopes, then scopes not held', async ({ api }) => {
    const [, createTeamKey] = KEYS_OF_A_TEAM;
    const asking = (...scopes: string[]): Attempt => ({
      change: (sent) => withBody(sent, JSON.stringify({ ...JSON.parse(String(sent.body)), scopes })),
      credential: without('billing:read'),
    });

    await expectRefusals(api, createTeamKey ?? operationOf('createApiKey'), {
      'invisible team': [NO_TEAM, { ...asking('profile:read', 'billing:read'), standing: 'stranger' }],
      'no permission': [NO_PERMISSION, { ...asking('profile:read', 'billing:read'), standing: 'member' }],
      'account-only and not held': ['403 scope_account_only', asking('profile:read', 'billing:read')],
      'not held': ['403 scope_not_allowed', asking('teams:read', 'billing:read')],
    });
  });
});
