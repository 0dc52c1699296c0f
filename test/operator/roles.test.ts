import { describe, expect } from 'vitest';
import { newId } from '../../src/entities/index.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import { startApi, test, testWith, type Api } from '../support/api.ts';

const TEAMS = '/operator/v1/teams';

async function aScene(api: Api) {
  const operator = api.as(await api.anOperatorKey());
  const [owner, member] = [await api.anAccount(), await api.anAccount()];
  const team = await api.aTeam({ owner });
  await api.aMember(team, member);
  return { operator, owner, member, team, path: `${TEAMS}/${team.id}/roles` };
}

describe('roles over the operator API', () => {
  test('are created, listed, changed and deleted, and act at the next request of their members', async ({ api }) => {
    const { operator, member, team, path } = await aScene(api);
    const as = api.as(await api.anApiKey(member, { scopes: ALL_SCOPES }));

    const created = await operator.post(path, { name: 'Editor', permissions: ['invite_members', 'access_dashboard'] });
    const permissions = ['access_dashboard', 'invite_members'];
    const role = {
      id: created.body.id,
      name: 'Editor',
      isSystemRole: false,
      permissions,
      productPermissions: [],
      version: 0,
    };
    expect([created.status, created.body]).toEqual([201, role]);
    const { roles } = (await operator.get(path)).body as { roles: { id: string }[] };
    expect(roles.map(({ id }) => id)).toEqual(['guest', 'member', 'owner', role.id]);
    expect(roles[3]).toEqual(role);

    await operator.patch(`${TEAMS}/${team.id}/members/${member.id}`, { roleId: role.id });
    expect((await as.get(`/api/v1/teams/${team.id}/members`)).status).toBe(200);
    const changed = await operator.patch(`${path}/${role.id}`, { permissions: ['access_billing'] });
    expect(changed.body).toEqual({ ...role, permissions: ['access_billing'], version: 1 });
    expect((await operator.get(`${path}/${role.id}`)).body).toEqual(changed.body);
    expect(await as.get(`/api/v1/teams/${team.id}/members`)).toBeProblem('permission_missing');

    const deleted = await operator.delete(`${path}/${role.id}?replacementRoleId=member`);
    expect(deleted.body).toEqual({ success: true });
    expect((await as.get(`/api/v1/teams/${team.id}/members`)).status).toBe(200);
    expect(await operator.get(`${path}/${role.id}`)).toBeProblem('role_not_found');
  });

  test('of another version than If-Match says are not changed, of 5 changes at once one is', async ({ api }) => {
    const { operator, team, path } = await aScene(api);
    const { id } = await api.aRole(team, []);
    const change = (name: string) =>
      operator.send({
        method: 'PATCH',
        path: `${path}/${id}`,
        headers: { 'content-type': 'application/json', 'if-match': '"0"' },
        body: JSON.stringify({ name }),
      });
    const answers = await Promise.all(['Ant', 'Bee', 'Cat', 'Dog', 'Eel'].map(change));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(4);
    expect((await operator.get(`${path}/${id}`)).headers['etag']).toBe('"1"');
  });

  test('of the system, of another team and of no team stay as they are', async ({ api }) => {
    const { operator, path } = await aScene(api);
    const { id } = await api.aRole(await api.aTeam(), []);
    for (const roleId of ['owner', 'member', id, 'role_unknown']) {
      expect(await operator.patch(`${path}/${roleId}`, { name: 'Taken' })).toBeProblem('role_not_found');
      expect(await operator.delete(`${path}/${roleId}?replacementRoleId=guest`)).toBeProblem('role_not_found');
    }
    expect(await operator.get(`${path}/${id}`)).toBeProblem('role_not_found');
    expect(await operator.get(`${TEAMS}/team_unknown/roles`)).toBeProblem('team_not_found');
    expect(await operator.post(`${TEAMS}/ext:unknown/roles`, { name: 'A', permissions: [] })).toBeProblem(
      'team_not_found',
    );
  });

  test('cannot have the name of another, an unknown permission, nor be replaced by themselves or the owner', async ({
    api,
  }) => {
    const { operator, team, path } = await aScene(api);
    await operator.post(path, { name: 'Editor', permissions: [] });
    for (const body of [
      { name: 'editor', permissions: [] },
      { name: 'Ðwner', permissions: ['fly'] },
      { name: 'Owner', permissions: [] },
      { name: '\u202eabc', permissions: [] },
      { name: 'Without' },
    ])
      expect(await operator.post(path, body)).toBeProblem('validation_failed');
    const { id } = await api.aRole(team, []);
    const remove = (replacement: string) => operator.delete(`${path}/${id}?replacementRoleId=${replacement}`);
    expect(await remove('owner')).toBeProblem('role_not_assignable');
    expect(await remove(id)).toBeProblem('validation_failed');
    expect(await remove('role_unknown')).toBeProblem('validation_failed');
    expect((await operator.delete(`${path}/${id}`)).status).toBe(200);
  });

  test('created twice with one Idempotency-Key are one, and the owner is told of a privileged one', async ({ api }) => {
    const { operator, owner, path } = await aScene(api);
    const name = newId('role').slice(-12);
    const send = () =>
      operator.send({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json', 'idempotency-key': name },
        body: JSON.stringify({ name, permissions: ['invite_members'] }),
      });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.body.id]).toEqual([201, first.body.id]);
    const notices = await api.mailTo(owner.email);
    expect(JSON.stringify(notices)).toContain(name);
  });
});

/** Templates are of the installation, so these tests have one of their own. */
const withTemplates = testWith(() => startApi());
const TEMPLATES = '/operator/v1/role-templates';

describe('role templates', () => {
  withTemplates(
    'are the roles of each team that is created from then on, by anyone, and of no other',
    async ({ api }) => {
      const operator = api.as(await api.anOperatorKey());
      const owner = await api.anAccount();
      const names = async (teamId: string) =>
        (await operator.get(`${TEAMS}/${teamId}/roles`)).body.roles
          .filter(({ isSystemRole }: { isSystemRole: boolean }) => !isSystemRole)
          .map(({ name, permissions }: { name: string; permissions: string[] }) => `${name}: ${permissions.join()}`);
      const aNewTeam = async () => (await operator.post(TEAMS, { name: 'New', ownerId: owner.id })).body.id as string;
      const before = await aNewTeam();

      const created = await operator.post(TEMPLATES, {
        name: 'Admin',
        permissions: ['invite_members', 'access_dashboard'],
      });
      expect([created.status, created.body.version]).toEqual([201, 0]);
      await operator.post(TEMPLATES, { name: 'Observer', permissions: [] });
      const path = `${TEMPLATES}/${created.body.id}`;
      const first = await aNewTeam();
      const byOwner = await api
        .as(await api.anApiKey(owner, { scopes: ALL_SCOPES }))
        .post('/api/v1/teams', { name: 'Own' });
      for (const teamId of [first, byOwner.body.id as string])
        expect(await names(teamId)).toEqual(['Admin: access_dashboard,invite_members', 'Observer: ']);
      expect(await names(before)).toEqual([]);
      const recorded = await api.rows(`select details from audit_event where team_id = $1 and event = 'role.created'`, [
        first,
      ]);
      expect(recorded).toHaveLength(2);

      const patch = (body: object, version: string) =>
        operator.send({
          method: 'PATCH',
          path,
          headers: { 'content-type': 'application/json', 'if-match': version },
          body: JSON.stringify(body),
        });
      expect((await patch({ name: 'Manager', permissions: [] }, '"0"')).body).toMatchObject({
        name: 'Manager',
        version: 1,
      });
      expect(await patch({ name: 'Chief' }, '"0"')).toBeProblem('version_mismatch');
      expect((await operator.get(path)).headers['etag']).toBe('"1"');
      expect((await operator.get(TEMPLATES)).body.roleTemplates).toHaveLength(2);
      expect((await operator.delete(path)).status).toBe(200);
      expect(await names(await aNewTeam())).toEqual(['Observer: ']);
      expect(await names(first)).toEqual(['Admin: access_dashboard,invite_members', 'Observer: ']);
      for (const call of [operator.get(path), operator.patch(path, { name: 'A' }), operator.delete(path)])
        expect(await call).toBeProblem('role_not_found');
    },
  );

  withTemplates('have distinct names also under a race, and there are 50 at most', async ({ api }) => {
    const operator = api.as(await api.anOperatorKey());
    await api.rows('delete from role_template');
    const create = (name: string) => operator.post(TEMPLATES, { name, permissions: [] });
    const same = await Promise.all(['Pilot', 'pilot', 'Рilot', 'PILOT'].map(create));
    expect(same.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400, 400]);
    for (const name of ['Owner', 'member', '\u0007']) expect(await create(name)).toBeProblem('validation_failed');
    const many = await Promise.all(
      Array.from({ length: 52 }, (_, i) => create(`Role ${String.fromCodePoint(0x4e00 + i)}`)),
    );
    expect(many.filter(({ status }) => status === 201)).toHaveLength(49);
    await api.rows('delete from role_template');
  });
});
