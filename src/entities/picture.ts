import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { instant, textId } from './base.ts';
import { Team } from './team.ts';

/** The picture of an account or a team, as WebP. It is served while their URL names it. */
const PictureSchema = defineEntity({
  name: 'Picture',
  tableName: 'picture',
  properties: {
    /** A hash of the owner and the content. */
    name: textId().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').nullable(),
    team: () => p.manyToOne(Team).deleteRule('cascade').nullable(),
    content: p.blob(),
    /** When the cleanup next checks whether a URL names it. */
    cleanupAt: instant(),
    createdAt: instant().onCreate(() => new Date()),
  },
  checks: [{ name: 'picture_owner_check', expression: 'num_nonnulls(account_id, team_id) = 1' }],
  uniques: [
    { name: 'picture_account_unique', properties: ['account'] },
    { name: 'picture_team_unique', properties: ['team'] },
  ],
  indexes: [{ name: 'picture_cleanup_index', properties: ['cleanupAt'] }],
});

export class Picture extends PictureSchema.class {}
PictureSchema.setClass(Picture);
