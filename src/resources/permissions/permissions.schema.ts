import { z } from 'zod';
import { productPermissionName, PRODUCT_PERMISSIONS_MAX, readableName, text } from '../../procedures/fields.ts';
import { closedObject, closedRecord } from '../../procedures/known-members.ts';

const LANGUAGES_MAX = 30;
const language = z
  .string()
  .regex(/^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8}){0,3}$/)
  .meta({ description: 'A language tag (BCP 47).', example: 'de' });

/** A text by language. */
const localized = (max: number) =>
  closedRecord(language, readableName(1, max), LANGUAGES_MAX).check(({ value, issues }) => {
    if (Object.keys(value).length === 0)
      issues.push({ code: 'custom', message: 'It names no language.', input: value });
  });

const holders = z.array(z.enum(['member', 'guest'])).max(2);

export const declaredPermission = closedObject({
  name: productPermissionName.describe('An area and an action, such as `invoices:write`.'),
  title: localized(100).describe('What it is called, by language.'),
  description: localized(500).nullable().prefault(null).describe('What it permits, by language.'),
  group: localized(100).nullable().prefault(null).describe('The heading under which it is listed. Null for its area.'),
  sensitive: z
    .boolean()
    .default(false)
    .describe('Whether a role with it is privileged: giving it needs a recent proof, and is told by email.'),
  roles: holders.default([]).describe('The system roles that hold it. The owner holds all.'),
  keys: z.boolean().default(false).describe('Whether API keys can hold it.'),
  deprecated: z.boolean().default(false).describe('Whether it is no longer given to who does not hold it.'),
});

const removal = z
  .union([z.literal('drop'), closedObject({ replaceWith: productPermissionName })])
  .meta({ description: '`drop`, or the permission that its holders get instead.' });

/** A file can keep decisions about permissions that were removed long ago. */
const REMOVALS_MAX = 10 * PRODUCT_PERMISSIONS_MAX;

export const catalogueFields = {
  permissions: z
    .array(declaredPermission)
    .max(PRODUCT_PERMISSIONS_MAX)
    .describe('All permissions, in the order in which they are listed.'),
  removals: closedRecord(productPermissionName, removal, REMOVALS_MAX)
    .prefault({})
    .describe('What happens to permissions that are held and no longer declared. Others in it are ignored.'),
};

/** The content of a file. */
export const catalogueFile = closedObject(catalogueFields);

export const applyCatalogueInput = z.object({
  ...catalogueFields,
  dryRun: z.boolean().default(false).describe('Whether to answer what would change, and change nothing.'),
  version: z.int().min(0).optional().meta({
    description: 'The version that you have read, the same as `If-Match`. With another one now, nothing changes.',
  }),
});

const version = z.int().describe('Counts the changes of the catalogue.');

export const catalogueOutput = z
  .object({ version, permissions: z.array(declaredPermission).describe('All permissions, in their order.') })
  .meta({ id: 'PermissionCatalogue', description: 'The permissions of your product.' });

const count = z.int();
const held = {
  name: productPermissionName.describe('The permission.'),
  roles: count.describe('Roles of teams that hold it.'),
  templates: count.describe('Role templates that hold it.'),
  keys: count.describe('API keys that hold it.'),
  clients: count.describe('OAuth clients that ask for it.'),
  grants: count.describe('Grants of OAuth clients that hold it.'),
};

/** How many hold each permission of the catalogue. */
export const holdersOutput = z.array(z.object(held));

export const catalogueChangeOutput = z
  .object({
    version: version.describe('The version after the change; the present one of a dry run.'),
    isApplied: z.boolean().describe('Whether something was changed.'),
    added: z.array(productPermissionName).describe('Permissions that are new.'),
    changed: z
      .array(z.object({ ...held, fields: z.array(z.string()).describe('What is declared differently.') }))
      .describe('Permissions that are declared differently.'),
    removed: z
      .array(
        z.object({
          ...held,
          removal: z
            .enum(['drop', 'replace'])
            .nullable()
            .describe('What was decided. Null if nothing was: needed if it is held.'),
          replaceWith: text(1, 101).nullable().describe('The permission that its holders get instead.'),
        }),
      )
      .describe('Permissions that are no longer declared.'),
  })
  .meta({ id: 'PermissionCatalogueChange', description: 'What a catalogue changes, and for how many.' });

export type Declaration = z.infer<typeof declaredPermission>;
export type Removal = z.infer<typeof removal>;
export type Catalogue = Omit<z.infer<typeof catalogueFile>, 'removals'> & {
  readonly removals: Readonly<Record<string, Removal>>;
};
export type CatalogueChange = z.infer<typeof catalogueChangeOutput>;
