import { query, type QueryRunner } from '../db/query.ts';
import type { Config } from '../config/config.ts';
import type { EmailContext } from '../email/content.ts';
import { getEmailMessages } from '../messages/email-messages.ts';
import { DEFAULT_LANGUAGE, matchLanguage, type Language } from '../messages/languages.ts';

/** Returns the brand, and the messages of the first language tag that has some. */
export const createEmailContext = (
  { brand, baseUrl }: Config,
  ...tags: readonly (string | null | undefined)[]
): EmailContext => ({ brand, baseUrl, messages: getEmailMessages(matchLanguage(...tags) ?? DEFAULT_LANGUAGE) });

/** Returns the language that an account prefers; null if it has none, or was deleted. */
export async function findPreferredLocale(db: QueryRunner, accountId: string): Promise<string | null> {
  const [row] = await db.query(preferredLocale, [accountId]);
  return row?.locale ?? null;
}

const preferredLocale = query<{ locale: string | null }>(
  'account_find_preferred_locale',
  'select preferred_locale as locale from account where id = $1',
);

export const NOTICE_LOCALE = 'case when notice_locale_until > now() then notice_locale else preferred_locale end';

/**
 * Finds the language of security notices to an account: the preferred one, or that before it if the session that changed
 * it had no recent proof. @returns null if it has none, or was deleted
 */
export async function findNoticeLocale(db: QueryRunner, accountId: string): Promise<string | null> {
  const [row] = await db.query(noticeLocale, [accountId]);
  return row?.locale ?? null;
}

const noticeLocale = query<{ locale: string | null }>(
  'account_find_notice_locale',
  `select ${NOTICE_LOCALE} as locale from account where id = $1`,
);

/** The language of a browser, for emails that its request causes to an account without a preferred one. */
export type LanguageHint = { readonly language?: Language };

/**
 * In how many seconds an email is begun whose work depends on whether an address has an account: after the response, so
 * longer than a batch of requests takes.
 */
export const REQUESTED_LINK_SECONDS = 1;

export const toLanguageHint = (language: Language | null | undefined): LanguageHint => (language ? { language } : {});
