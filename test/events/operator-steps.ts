import { expect, vi } from 'vitest';
import { importTasks } from '../../src/resources/imports/upload-job.ts';
import { account as accountRow, aPrefix, membership as membershipRow, team as teamRow } from '../cli/import-file.ts';
import { anAddress } from '../trpc/people.ts';
import { aTemplateName } from '../trpc/role-templates.ts';
import type { Steps } from './step.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const path = (team: string) => `/operator/v1/teams/${team}`;
const FUTURE = '2999-01-01T00:00:00.000Z';
const NAMES = ['Ada', 'Ida', null] as const;
const METADATA = { public: { region: 'eu' }, private: { crm: 'C-1' } };
const ROLE = 'Pilot';
const ROLES = [{ name: ROLE, permissions: ['access_billing'], productPermissions: ['invoices:read'] }];

/** The catalogue has both, or no longer the second. */
const READ = { name: 'invoices:read', title: { en: 'Read' } };
const WRITE = { name: 'invoices:write', title: { en: 'Write' } };
export const CATALOGUE = [READ, WRITE];

/** Of both parts, one, or what empties one. */
const changedMetadata = (c: number) =>
  [{ public: { c } }, { private: { c } }, { public: { c }, private: { d: c } }, { public: null }][c % 4];

/** The steps over the operator API, by the name of their procedure. */
export const OPERATOR_STEPS: Steps = {
  'operatorApi.createAccount': ({ operator, c }) =>
    operator.post('/operator/v1/accounts', { email: anAddress(), isEmailVerified: c % 3 > 0 }),
  'operatorApi.updateAccount': ({ operator, account, c }) =>
    operator.patch(`/operator/v1/accounts/${account}`, { firstName: NAMES[c % 3], isEmailVerified: true }),
  'operatorApi.updateAccount: address': ({ operator, account, c }) =>
    operator.patch(`/operator/v1/accounts/${account}`, { email: anAddress(), isEmailVerified: c % 2 === 0 }),
  'operatorApi.disableAccount': ({ operator, account }) => operator.post(`/operator/v1/accounts/${account}/disable`),
  'operatorApi.enableAccount': ({ operator, account }) => operator.post(`/operator/v1/accounts/${account}/enable`),
  'operatorApi.deleteAccount': ({ operator, account }) => operator.delete(`/operator/v1/accounts/${account}`),
  'operatorApi.createTeam': ({ operator, account }) =>
    operator.post('/operator/v1/teams', { name: 'Kites', ownerId: account }),
  'operatorApi.updateTeam': ({ operator, team, c }) => operator.patch(path(team), { name: `Team ${c}` }),
  'operatorApi.transferTeam': ({ operator, team, member, other, c }) =>
    operator.post(`${path(team)}/transfer`, { accountId: c % 2 === 0 ? member : other }),
  'operatorApi.deleteTeam': ({ operator, team }) => operator.delete(path(team)),
  'operatorApi.addMember': ({ operator, team, account, role, c }) =>
    operator.post(`${path(team)}/members`, {
      accountId: account,
      roleId: role,
      isActive: c % 2 === 0,
      ...(c % 3 === 0 && { expiresAt: FUTURE }),
    }),
  'operatorApi.updateMember': ({ operator, team, member, role, c }) =>
    operator.patch(
      `${path(team)}/members/${member}`,
      [{ roleId: role }, { isActive: c % 2 === 0 }, { expiresAt: FUTURE }][c % 3],
    ),
  'operatorApi.removeMember': ({ operator, team, member }) => operator.delete(`${path(team)}/members/${member}`),
  'operatorApi.updateAccount: external id': ({ operator, account }) =>
    operator.patch(`/operator/v1/accounts/${account}`, { externalId: `own-${anAddress()}` }),
  'operatorApi.updateTeam: external id': ({ operator, team, c }) =>
    operator.patch(path(team), { externalId: c % 3 === 0 ? null : `own-${anAddress()}` }),
  'operatorApi.updateAccountMetadata': ({ operator, account, c }) =>
    operator.patch(`/operator/v1/accounts/${account}/metadata`, changedMetadata(c)),
  'operatorApi.updateTeamMetadata': ({ operator, team, c }) =>
    operator.patch(`${path(team)}/metadata`, changedMetadata(c)),
  'operatorApi.updateMemberMetadata': ({ operator, team, member, c }) =>
    operator.patch(`${path(team)}/members/${member}/metadata`, changedMetadata(c)),
  'operatorApi.applyPermissions': ({ operator, c }) =>
    operator.send({
      method: 'PUT',
      path: '/operator/v1/permissions',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(
        c % 2 === 0
          ? { permissions: CATALOGUE }
          : { permissions: [READ], removals: { [WRITE.name]: { replaceWith: READ.name } } },
      ),
    }),
  'operatorApi.createRole': ({ operator, team, c }) =>
    operator.post(`${path(team)}/roles`, {
      name: `Role ${anAddress()}`,
      permissions: ['access_billing'],
      productPermissions: CATALOGUE.map(({ name }) => name).slice(c % 3),
    }),
  'operatorApi.updateRole': ({ operator, team, role, c }) =>
    operator.patch(`${path(team)}/roles/${role}`, { name: `Role ${c} ${anAddress()}` }),
  'operatorApi.deleteRole': ({ operator, team, role }) =>
    operator.delete(`${path(team)}/roles/${role}?replacementRoleId=guest`),
  'operatorApi.createRoleTemplate': async ({ api, operator, account }) => {
    const made = await operator.post('/operator/v1/role-templates', { name: aTemplateName(api), permissions: [] });
    await operator.post('/operator/v1/teams', { name: 'With templates', ownerId: account });
    return made;
  },
  'operatorApi.createImport: account, team, membership': async ({ api, upload, c }) => {
    const [p, [known], [acme]] = [
      aPrefix(),
      await api.rows<{ external_id: string }>('select external_id from account where external_id is not null limit 1'),
      await api.rows<{ external_id: string }>('select external_id from team where external_id is not null limit 1'),
    ];
    const rows = [
      accountRow(`${p}a`, { isDisabled: c % 2 === 0, emailVerified: true, metadata: METADATA }),
      teamRow(`${p}t`, `${p}a`, { plan: 'pro', metadata: METADATA, roles: ROLES }),
      ...(known === undefined
        ? []
        : [membershipRow(`${p}t`, known.external_id, { role: ROLE, expiresAt: FUTURE, metadata: METADATA })]),
      ...(acme === undefined ? [] : [membershipRow(acme.external_id, `${p}a`, { isActive: false })]),
    ];
    const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const headers = { 'content-type': 'application/x-ndjson' };
    const answer = await upload.send({ method: 'POST', path: '/operator/v1/imports', headers, body });
    const helpers = { job: { id: '0', attempts: 1 }, query: () => Promise.resolve({ rows: [] }) };
    await importTasks(api.services, log as never)['importUpload']?.({ importId: answer.body.id }, helpers as never);
    // The worker that delivers the mails of the service may have taken the job before.
    await vi.waitFor(
      async () =>
        expect((await upload.get(`/operator/v1/imports/${answer.body.id}`)).body.status).not.toMatch(/queued|running/),
      { timeout: PATIENCE_MS, interval: 20 },
    );
    return answer;
  },
};
