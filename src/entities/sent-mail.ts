import { defineEntity } from '@mikro-orm/core';
import { base, text, textId } from './base.ts';

/** A sent email, kept for a day. The limits per email address count these rows. */
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
