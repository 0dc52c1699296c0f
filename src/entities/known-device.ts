import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant } from './base.ts';

/** A browser that an account has signed in from. Its sign-ins cause no notice, and its attempts are counted separately. */
const KnownDeviceSchema = defineEntity({
  name: 'KnownDevice',
  tableName: 'known_device',
  properties: {
    ...base('dev'),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    /** SHA-256 of the token in the browser's cookie. */
    tokenHash: p.blob(),
    lastSeenAt: instant(),
  },
  indexes: [{ name: 'known_device_last_seen_index', properties: ['lastSeenAt'] }],
  uniques: [{ name: 'known_device_account_token_unique', properties: ['account', 'tokenHash'] }],
});

export class KnownDevice extends KnownDeviceSchema.class {}
KnownDeviceSchema.setClass(KnownDevice);
