import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { instant, isExpired } from './base.ts';
import { Team } from './team.ts';

/** An offer of the owner to another member, who becomes the owner by accepting it. A team has at most one. */
const OwnershipTransferSchema = defineEntity({
  name: 'OwnershipTransfer',
  tableName: 'ownership_transfer',
  properties: {
    team: () => p.oneToOne(Team).primary().deleteRule('cascade'),
    nominee: () => p.manyToOne(Account).deleteRule('cascade'),
    createdAt: instant().onCreate(() => new Date()),
    expiresAt: instant(),
    isExpired: isExpired(),
  },
  indexes: [{ name: 'ownership_transfer_nominee_index', properties: ['nominee'] }],
});

export class OwnershipTransfer extends OwnershipTransferSchema.class {}
OwnershipTransferSchema.setClass(OwnershipTransfer);
