import type { Block, Content, EmailContext } from './content.ts';
import { findNoticePage, type Notice, type NoticeCause, type NoticeKind } from './notices.ts';
import { createQuote, type Quote } from './quote.ts';

/** Kinds whose notice is of one mailbox or of the whole account, so that a reset of the password is what ends them. */
const ENDED_BY_RESET: ReadonlySet<NoticeKind> = new Set([
  'password_changed',
  'password_reset',
  'email_change_requested',
]);

/** Kinds after which nothing is left to end, or the reader can no longer sign in. */
const FOR_OPERATOR: ReadonlySet<NoticeKind> = new Set([
  'account_deleted',
  'email_changed',
  'email_removed',
  'ownership_transferred',
]);

/**
 * Describes a change of the access to an account: what, in which team, when, from which browser and place, by which
 * credential, and where it is ended.
 */
export function describeNotice(notice: Notice, { messages, baseUrl }: EmailContext): Content {
  const { format: t } = messages;
  const { kind } = notice;
  const quote = createQuote(messages.language);
  const page = findNoticePage(notice);
  const isReset = ENDED_BY_RESET.has(kind);
  return {
    title: t(`${kind}.title`),
    before: [...describeChange(notice, t, quote), { list: describeCause(notice, messages, quote) }].filter(
      (block) => typeof block === 'string' || block.list.length > 0,
    ),
    ...(page !== null && {
      link: {
        url: `${baseUrl}${page}`,
        label: t(isReset ? 'reset_password.action' : 'notice.action'),
      },
    }),
    after: [t(getAdvice(kind, isReset))],
  };
}

const getAdvice = (kind: NoticeKind, isReset: boolean) =>
  kind === 'email_change_requested'
    ? 'email_change_requested.otherwise'
    : FOR_OPERATOR.has(kind)
      ? 'advice.contact'
      : isReset
        ? 'advice.reset'
        : 'advice.revoke';

type Format = EmailContext['messages']['format'];

function describeChange({ kind, thing, number = 0, things = [] }: Notice, t: Format, quote: Quote): Block[] {
  if (number === 0) return [t(`${kind}.happened`, { thing: thing === undefined ? t('unknown') : quote(thing) })];
  const rest = number - things.length;
  const lines = things.map((each) =>
    typeof each === 'string'
      ? quote(each)
      : t('notice.thing_for', { thing: quote(each.thing), person: quote(each.person) }),
  );
  return [
    t('notice.repeated', { number }),
    { list: things.length > 0 && rest > 0 ? [...lines, t('unused_keys.more', { number: rest })] : lines },
  ];
}

function describeCause(
  { cause, teamName, person, byName, number = 0 }: Notice,
  messages: EmailContext['messages'],
  quote: Quote,
): string[] {
  const { format: t, formatInstant } = messages;
  const lines: string[] = [];
  // Of several things, each has its own.
  if (person !== undefined && number === 0) lines.push(t('notice.person', { person: quote(person) }));
  if (teamName) lines.push(t('notice.team', { team: quote(teamName) }));
  if (cause === undefined) return lines;
  lines.push(t('notice.at', { at: formatInstant(new Date(cause.at)) }));
  // User-Agent values are untrusted.
  const describe = (text: string | null) => (text ? quote(text) : t('unknown'));
  const { browser, os, country, city } = cause.origin;
  const location = [city, country === null ? null : messages.nameCountry(country)].filter(Boolean).join(', ');
  lines.push(
    t('notice.browser', { browser: describe(browser), os: describe(os) }),
    t('notice.location', { location: describe(location) }),
  );
  const by = BY[cause.by];
  if (by !== null) lines.push(t(by, { name: describe(byName ?? null) }));
  return lines;
}

/** A session and an emailed link are described by their browser. */
const BY = {
  session: null,
  link: null,
  api_key: 'notice.by_key',
  app: 'notice.by_app',
  operator: 'notice.by_operator',
} as const satisfies Record<NoticeCause['by'], string | null>;
