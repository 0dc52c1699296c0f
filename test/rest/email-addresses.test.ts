import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';

const LABEL = 'x'.repeat(63);

describe('an invitation to an email address', () => {
  test.for([
    'a@example.com',
    'a&b@example.com',
    'o/brien@example.com',
    "!#$%&'*+/=?^_`{|}~.-@example.com",
    '.dots..everywhere.@example.com',
    'a@xn--bcher-kva.example',
    'a@example.xn--p1ai',
    'a@1.2',
    `a@${LABEL}.example`,
    `${'l'.repeat(200)}@example.com`,
    `${'l'.repeat(255 - 12)}@example.com`,
  ])('%s is accepted', async (email, { api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['invites:write'] });
    const answer = await api.as(key).post(`/api/v1/teams/${team.id}/invitations`, { email });

    expect(answer.status).toBe(201);
    expect(await api.rows('select email from invitation where team_id = $1', [team.id])).toEqual([{ email }]);
  });

  test.for([
    ['', 'min_length'],
    ['a', 'invalid_format'],
    ['@example.com', 'invalid_format'],
    ['a@', 'invalid_format'],
    ['a@localhost', 'invalid_format'],
    ['a@example.', 'invalid_format'],
    ['a@-example.com', 'invalid_format'],
    ['a@example-.com', 'invalid_format'],
    ['a@ex_ample.com', 'invalid_format'],
    [`a@${LABEL}x.example`, 'invalid_format'],
    ['a b@example.com', 'invalid_format'],
    ['a@b@example.com', 'invalid_format'],
    ['"a"@example.com', 'invalid_format'],
    ['ä@example.com', 'invalid_format'],
    ['a@bücher.example', 'invalid_format'],
    ['a@example.com\n', 'invalid_format'],
    ['a@[192.0.2.1]', 'invalid_format'],
    [`${'l'.repeat(256 - 12)}@example.com`, 'max_length'],
  ] as const)('%j is rejected', async ([email, code], { api }) => {
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ['invites:write'] });
    const answer = await api.as(key).post(`/api/v1/teams/${team.id}/invitations`, { email });

    expect(answer).toBeProblem('validation_failed');
    expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer: '/email', code }));
  });
});
