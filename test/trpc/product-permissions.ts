import { newId } from '../../src/entities/index.ts';
import { readCatalogue } from '../../src/resources/permissions/catalogue.queries.ts';
import { applyCatalogue } from '../../src/resources/permissions/catalogue.service.ts';
import { catalogueFile, type Declaration } from '../../src/resources/permissions/permissions.schema.ts';
import type { Api } from '../support/api.ts';

/** The catalogue with one more permission, which API keys can hold. */
export async function aWiderCatalogue({ services }: Pick<Api, 'services'>) {
  const { permissions } = await readCatalogue(services.db);
  const name = `late:${newId('p')}`;
  const added = {
    name,
    title: { en: 'Late' },
    description: null,
    group: null,
    sensitive: false,
    roles: [],
    keys: true,
    deprecated: false,
  };
  return { name, permissions: [...permissions, added] };
}

/** Declares a permission that API keys can hold. @returns its name */
export async function aPermission(api: Pick<Api, 'services'>): Promise<string> {
  const { name, permissions } = await aWiderCatalogue(api);
  await applyCatalogue(api.services.db, 'system', { permissions, removals: {} });
  return name;
}

/** Replaces the catalogue. Whatever it no longer declares is dropped. */
export async function declarePermissions(
  { services: { db } }: Pick<Api, 'services'>,
  permissions: readonly (Partial<Declaration> & { readonly name: string })[],
): Promise<void> {
  const before = await readCatalogue(db);
  const removals = Object.fromEntries(before.permissions.map(({ name }) => [name, 'drop']));
  const declared = permissions.map((each) => ({ title: { en: each.name }, ...each }));
  await applyCatalogue(db, 'system', catalogueFile.parse({ permissions: declared, removals }));
}
