import { onTestFinished } from 'vitest';
import { newId, type Permission } from '../../src/entities/index.ts';
import { createRoleTemplate } from '../../src/resources/roles/role-templates.service.ts';
import type { Api } from '../support/api.ts';

/** The name of a role template that no other has. It is deleted after the test, so that teams of others do not get it. */
export function aTemplateName(api: Pick<Api, 'rows'>): string {
  const name = `T ${newId('t')}`;
  onTestFinished(async () => void (await api.rows('delete from role_template where name = $1', [name])));
  return name;
}

export const aTemplate = async (
  api: Pick<Api, 'services' | 'rows'>,
  permissions: readonly Permission[] = [],
): Promise<string> =>
  (await createRoleTemplate(api.services.db, 'system', { name: aTemplateName(api), permissions })).id;
