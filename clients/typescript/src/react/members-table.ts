import { useMemo, useState } from 'react';
import { useChangeMember, useRemoveMember } from './actions.ts';
import { useMembers, useRoles, type TeamMember } from './queries.ts';

export type MemberColumn = 'name' | 'email' | 'roleName' | 'joinedAt';

const nameOf = ({ firstName, lastName }: TeamMember): string => [firstName, lastName].filter(Boolean).join(' ');

const valueOf = (member: TeamMember, column: MemberColumn): string =>
  column === 'name' ? nameOf(member) : (member[column] ?? '');

/** The state of a table of members (search, order, pages) and its actions. */
export function useMembersTable(teamId: string, { pageSize = 50 }: { pageSize?: number } = {}) {
  const members = useMembers(teamId);
  const roles = useRoles(teamId);
  const [search, setSearch] = useState('');
  const [order, setOrder] = useState<{ column: MemberColumn; isDescending: boolean }>({
    column: 'joinedAt',
    isDescending: false,
  });
  const [page, setPage] = useState(0);

  const found = useMemo(() => {
    const words = search.trim().toLowerCase();
    const matching = (members.data ?? []).filter((member) =>
      `${nameOf(member)} ${member.email ?? ''} ${member.roleName}`.toLowerCase().includes(words),
    );
    const sign = order.isDescending ? -1 : 1;
    return matching.sort((a, b) => sign * valueOf(a, order.column).localeCompare(valueOf(b, order.column)));
  }, [members.data, search, order]);
  const pageCount = Math.max(1, Math.ceil(found.length / pageSize));
  const shown = Math.min(page, pageCount - 1); // members can leave while a later page is shown

  return {
    rows: found.slice(shown * pageSize, (shown + 1) * pageSize).map((member) => ({ ...member, name: nameOf(member) })),
    total: found.length,
    page: shown,
    pageCount,
    setPage,
    search,
    setSearch: (text: string) => {
      setSearch(text);
      setPage(0);
    },
    order,
    /** Orders by a column; by the present one in the other direction. */
    orderBy: (column: MemberColumn) =>
      setOrder((present) => ({ column, isDescending: present.column === column && !present.isDescending })),
    /** The roles that the user can give. */
    assignableRoles: (roles.data ?? []).filter(({ isAssignable }) => isAssignable),
    change: useChangeMember(teamId),
    remove: useRemoveMember(teamId),
    isPending: members.isPending,
    error: members.error,
  };
}
