import { defineEntity } from '@mikro-orm/core';
import { base, externalId, instant, text, textId } from './base.ts';
import { metadataChecks, metadataColumns } from './metadata.ts';

const TeamSchema = defineEntity({
  name: 'Team',
  tableName: 'team',
  properties: {
    ...base('team'),
    name: text().collation('C'),
    /** Derived from the name at creation. A rename does not change it (spec 2.4). */
    slug: text().collation('C').unique('team_slug_unique'),
    /** The id of the team in the operator's own system. */
    externalId: externalId(),
    /** The import that created it, whose own rows can have no events. Not deleted with the import. */
    importId: textId().nullable(),
    description: text().nullable(),
    avatarUrl: text().nullable(),
    ...metadataColumns(),
    updatedAt: instant()
      .onCreate(() => new Date())
      .onUpdate(() => new Date()),
  },
  uniques: [{ name: 'team_external_id_unique', properties: ['externalId'] }],
  checks: [
    { name: 'team_external_id_check', expression: 'char_length(external_id) >= 1 and char_length(external_id) <= 255' },
    ...metadataChecks('team'),
  ],
  indexes: [
    {
      name: 'team_name_page_index',
      expression:
        'create index "team_name_page_index" on "team" ((lower("name" collate pg_catalog."default") collate "C"), "id")',
    },
    {
      name: 'team_name_index',
      // The collation of the column lowers ASCII letters only.
      expression:
        'create index "team_name_index" on "team" (lower("name" collate pg_catalog."default") text_pattern_ops)',
    },
  ],
});

export class Team extends TeamSchema.class {}
TeamSchema.setClass(Team);
