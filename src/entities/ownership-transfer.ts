import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { instant } from './base.ts';
import { Team } from './team.ts';

/** The owner's offer to another member, who takes the team over by accepting it. A team has one at most. */
const OwnershipTransferSchema = defineEntity({
  name: 'OwnershipTransfer',
  tableName: 'ownership_transfer',
  properties: {
    team: () => p.oneToOne(Team).primary().deleteRule('cascade'),
    nominee: () => p.manyToOne(Account).deleteRule('cascade'),
    createdAt: instant().onCreate(() => new Date()),
    expiresAt: instant(),
  },
  indexes: [{ name: 'ownership_transfer_nominee_index', properties: ['nominee'] }],
});

export class OwnershipTransfer extends OwnershipTransferSchema.class {}
OwnershipTransferSchema.setClass(OwnershipTransfer);
