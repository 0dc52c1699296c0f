import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, isExpired } from './base.ts';
import { metadataChecks, metadataColumns } from './metadata.ts';
import { Role } from './role.ts';
import { Team } from './team.ts';

const MembershipSchema = defineEntity({
  name: 'Membership',
  tableName: 'membership',
  properties: {
    ...base('mem'),
    team: () => p.manyToOne(Team).deleteRule('cascade'),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    role: () => p.manyToOne(Role),
    /** Together with `expiresAt`, determines the state: active, inactive or expired. */
    isActive: p.boolean().default(true),
    expiresAt: instant().nullable(),
    isExpired: isExpired(),
    joinedAt: instant().nullable(),
    ...metadataColumns(),
  },
  indexes: [
    { name: 'membership_team_index', properties: ['team', 'joinedAt', 'id'] },
    { name: 'membership_team_page_index', properties: ['team', 'id'] },
    { name: 'membership_role_index', properties: ['role'] },
  ],
  checks: metadataChecks('membership'),
  uniques: [
    { name: 'membership_account_team_unique', properties: ['account', 'team'] },
    {
      name: 'membership_one_owner',
      expression: `create unique index "membership_one_owner" on "membership" ("team_id") where role_id = 'owner'`,
    },
  ],
});

export class Membership extends MembershipSchema.class {}
MembershipSchema.setClass(Membership);
