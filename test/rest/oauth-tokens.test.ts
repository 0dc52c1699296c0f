import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';

describe('the access log', () => {
  // Guarantees that a log line identifies the grant, which can be revoked, but contains no credential.
  test.for(['/api/v1/credential', '/trpc/getCredential'])(
    '%s: names the grant and never its token',
    async (path, { api }) => {
      const grant = await api.aGrant(await api.anAccount());
      const before = api.lines.length;

      await api.as(grant).get(path);

      const written = api.lines.slice(before);
      expect(written).toMatchObject([{ operation: 'getCredential', status: 200, credentialId: grant.id }]);
      expect(JSON.stringify(written)).not.toContain(grant.secret);
    },
  );

  test('a rejected token appears in no line', async ({ api }) => {
    const grant = await api.aGrant(await api.anAccount(), { expiresAt: new Date(Date.now() - 1000) });
    const before = api.lines.length;

    await api.as(grant).get('/api/v1/credential');

    const written = api.lines.slice(before);
    expect(written).toMatchObject([{ operation: 'getCredential', status: 401, credentialId: null }]);
    expect(JSON.stringify(written)).not.toContain(grant.secret);
  });
});
