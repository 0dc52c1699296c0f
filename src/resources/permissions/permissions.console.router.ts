import { z } from 'zod';
import { chooseText } from '../../messages/localized.ts';
import { productPermissionName, text } from '../../procedures/fields.ts';
import { sessionOrAppProcedure } from '../../procedures/procedures.ts';
import { router } from '../../procedures/trpc.ts';
import { readCatalogue } from './catalogue.queries.ts';

const listedPermission = z.object({
  name: productPermissionName,
  title: z.string(),
  description: z.string().nullable(),
  /** The heading under which it is listed; its area if the catalogue has none. */
  group: z.string(),
  /** Whether a role with it is privileged. */
  isSensitive: z.boolean(),
  /** Whether API keys can hold it. */
  isForKeys: z.boolean(),
  /** Whether only roles and keys that hold it can keep it. */
  isDeprecated: z.boolean(),
});

/** The permissions of the operator's product, for frontends that let users choose among them. */
export const permissionsConsoleRouter = router({
  /** Lists the catalogue in its order, with the texts in a language, else in English, else in the first one. */
  list: sessionOrAppProcedure('teams:read')
    .input(z.object({ language: text(1, 35).default('en') }))
    .output(z.array(listedPermission))
    .query(async ({ ctx, input: { language } }) => {
      const { permissions } = await readCatalogue(ctx.services.db);
      return permissions.map(({ name, title, description, group, sensitive, keys, deprecated }) => ({
        name,
        title: chooseText(title, language),
        description: description === null ? null : chooseText(description, language),
        group: group === null ? name.slice(0, name.indexOf(':')) : chooseText(group, language),
        isSensitive: sensitive,
        isForKeys: keys,
        isDeprecated: deprecated,
      }));
    }),
});
