import { defineEntity, p } from '@mikro-orm/core';
import { instant, text } from './base.ts';

/**
 * A scheme of stored password hashes: the algorithm and its cost. A sign-in at an unknown address computes a hash of one
 * of them, so that its time does not reveal whether an account exists.
 */
const PasswordSchemeSchema = defineEntity({
  name: 'PasswordScheme',
  tableName: 'password_scheme',
  properties: {
    /** The scheme. The version before has one row for each algorithm here. */
    kind: text().primary(),
    /** A hash up to its salt. */
    scheme: text(),
    /** Compares schemes of one algorithm. */
    work: p.bigint(),
    /** How many accounts have such a hash. */
    accounts: p.integer().default(0),
    /** When they were counted; 1970 if an import has changed the number since. */
    updatedAt: instant(),
  },
});

export class PasswordScheme extends PasswordSchemeSchema.class {}
PasswordSchemeSchema.setClass(PasswordScheme);
