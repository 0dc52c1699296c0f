import { defineEntity } from '@mikro-orm/core';
import { base, text, textId } from './base.ts';

/** One row a mail that left, kept for a day: what the limits per mailbox count. */
const SentMailSchema = defineEntity({
  name: 'SentMail',
  tableName: 'sent_mail',
  properties: {
    ...base('mail'),
    /** Lower case. */
    recipient: text().collation('C'),
    teamId: textId().nullable(),
  },
  indexes: [
    { name: 'sent_mail_recipient_index', properties: ['recipient', 'createdAt'] },
    { name: 'sent_mail_created_index', properties: ['createdAt'] },
  ],
});

export class SentMail extends SentMailSchema.class {}
SentMailSchema.setClass(SentMail);
