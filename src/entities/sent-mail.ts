import { defineEntity, p } from '@mikro-orm/core';
import { base, text, textId } from './base.ts';

/** A sent email, kept for a day. The limits per email address count these rows. */
const SentMailSchema = defineEntity({
  name: 'SentMail',
  tableName: 'sent_mail',
  properties: {
    ...base('mail'),
    /** An email address in lower case; of security notices, the id of the account. */
    recipient: text().collation('C'),
    teamId: textId().nullable(),
    /** Of security notices, how many followed the one that was sent at `createdAt`, and what the first of them are about. */
    number: p.integer().default(0),
    things: p.json<readonly string[]>().default('[]'),
  },
  indexes: [
    { name: 'sent_mail_recipient_index', properties: ['recipient', 'createdAt'] },
    { name: 'sent_mail_created_index', properties: ['createdAt'] },
  ],
});

export class SentMail extends SentMailSchema.class {}
SentMailSchema.setClass(SentMail);
