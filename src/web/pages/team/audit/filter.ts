import { useNavigate, useSearch } from '@tanstack/react-router';
import { auditTexts as words } from '../../../messages/audit.ts';

type Kind = Exclude<keyof typeof words.kinds, ''>;

const NAMES = ['kind', 'person', 'key', 'address', 'from', 'to', 'sort'] as const;
type Name = (typeof NAMES)[number];

/** What is in the URL. Days are such as `2026-11-22`; `sort=time` has the oldest events first. */
export type AuditSearch = { readonly [Each in Name]?: string | undefined };

/** Parameters without a value are removed from the URL. */
type Parameters = { readonly [Each in Name]?: string };

const isKind = (kind: string | undefined): kind is Kind => kind !== undefined && kind !== '' && kind in words.kinds;

/** Returns the beginning of a day, or of the one after it, in the user’s time zone. Undefined for another text. */
function toInstant(day: string | undefined, daysLater: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? [];
  if (year === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + daysLater).toISOString();
}

/** Returns the filter in the URL, as the service takes it, and how to change it. */
export function useAuditFilter() {
  const search: AuditSearch = useSearch({ strict: false });
  const navigate = useNavigate();
  const [from, to] = [toInstant(search.from, 0), toInstant(search.to, 1)];
  const filter = {
    ...(isKind(search.kind) && { kind: search.kind }),
    ...(search.person !== undefined && { person: search.person }),
    ...(search.key !== undefined && { key: search.key }),
    ...(search.address !== undefined && { address: search.address.slice(0, 45) }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
  const change = (next: AuditSearch) =>
    void navigate({
      to: '.',
      search: (previous: object) => ({ ...previous, ...next }) as Parameters, // the router removes undefined ones
      replace: true,
      resetScroll: false,
    });
  return { search, filter, order: search.sort === 'time' ? ('oldest' as const) : ('newest' as const), change };
}

export type AuditFilter = ReturnType<typeof useAuditFilter>['filter'];
