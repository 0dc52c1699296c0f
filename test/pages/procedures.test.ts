import { expect } from 'vitest';
import { appRouter } from '../../src/router.ts';
import { test } from '../support/api.ts';

test('/docs/procedures lists every procedure with its kind, its caller, its input and its output', async ({ api }) => {
  const { status, text } = await api.anonymous.get('/docs/procedures');

  expect(status).toBe(200);
  for (const path of Object.keys(appRouter._def.procedures)) expect(text).toContain(`<code>${path}</code>`);
  expect(text).toContain('mutation · scope teams:write, permission edit_team_settings');
  expect(text).toContain('mutation · user session · a session needs a recent proof<');
  expect(text).toContain('· a session needs a recent proof if the role is privileged<');
  expect(text).toContain('in   { teamId: string; name: string }');
  expect(text).toContain('string | null');
  expect(text).not.toMatch(/string,null|\b(unknown|anything)\b/);
});
