import type { TeamMember } from '#client/react';
import { Skeleton, Text } from '@mantine/core';
import { useState } from 'react';
import { TextLink } from '../../../components/links.tsx';
import { rolesTexts as words } from '../../../messages/roles.ts';
import { useTeam, type Role } from '../team.ts';
import { getDisplayName } from '../../../components/display-name.ts';
import { getRoleName } from './role-name.ts';

/** The number of names shown; the members page lists all. */
const NAMES = 50;

type HoldersProps = { readonly role: Role; readonly members: readonly TeamMember[] | undefined };

/** The number of members with a role, and their names on demand. */
export function Holders({ role, members }: HoldersProps) {
  const { team } = useTeam();
  const [isOpen, setOpen] = useState(false);
  if (members === undefined) return <Skeleton height={24} width={96} />;
  const holders = members.filter(({ roleId }) => roleId === role.roleId);
  if (holders.length === 0)
    return (
      <Text size="sm" c="dimmed" lh="1.5rem">
        {words.noMembers}
      </Text>
    );
  return (
    <details className="role-holders" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label={`${words.holdersOf(getRoleName(role))}: ${words.holders(holders.length)}`}>
        {words.holders(holders.length)}
      </summary>
      {isOpen && (
        <ul>
          {holders.slice(0, NAMES).map((holder) => (
            <li key={holder.membershipId} className="wrap">
              <bdi>
                {holder.isActive
                  ? getDisplayName(holder, holder.accountId)
                  : words.notActive(getDisplayName(holder, holder.accountId))}
              </bdi>
            </li>
          ))}
          {holders.length > NAMES && (
            <li>
              {words.more(holders.length - NAMES)}{' '}
              <TextLink to="/teams/$teamId/members" params={{ teamId: team.slug }}>
                {words.allMembers}
              </TextLink>
            </li>
          )}
        </ul>
      )}
    </details>
  );
}
