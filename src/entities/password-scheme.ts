import { defineEntity, p } from '@mikro-orm/core';
import { instant, text } from './base.ts';

/**
 * The most expensive scheme of each kind of imported password hashes. Every sign-in takes at least as long as the
 * slowest of them, so that its time does not reveal which accounts were imported.
 */
const PasswordSchemeSchema = defineEntity({
  name: 'PasswordScheme',
  tableName: 'password_scheme',
  properties: {
    /** The identifier of the algorithm in the hash, such as `2b` or `scrypt`. */
    kind: text().primary(),
    /** A hash up to its salt. */
    scheme: text(),
    /** Compares schemes of one kind. */
    work: p.bigint(),
    /** The last import of such a hash. */
    updatedAt: instant(),
  },
});

export class PasswordScheme extends PasswordSchemeSchema.class {}
PasswordSchemeSchema.setClass(PasswordScheme);
