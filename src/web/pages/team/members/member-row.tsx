import { Badge, Group, Loader, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { PersonPicture } from '../../../components/picture.tsx';
import { useDates } from '../../../components/dates.ts';
import { membersTexts as words } from '../../../messages/members.ts';
import { getMemberName, getMemberState, type Member, type MemberState } from './member.ts';

const COLORS: Readonly<Record<MemberState, string>> = { active: 'teal', inactive: 'gray', expired: 'yellow' };

type MemberRowProps = {
  readonly member: Member;
  readonly isYou: boolean;
  readonly isSaving: boolean;
  readonly actions: ReactNode;
};

// Explicit ARIA roles: some browsers drop them from table rows that are laid out as cards.
export function MemberRow({ member, isYou, isSaving, actions }: MemberRowProps) {
  const { day } = useDates();
  const name = getMemberName(member);
  const joined = member.joinedAt === null ? '' : day(member.joinedAt);
  return (
    <Table.Tr role="row" aria-busy={isSaving}>
      <Table.Th role="rowheader" scope="row" className="member-who">
        <PersonPicture name={name} src={member.avatar} size={36} />
        <div className="member-name">
          <Group gap={8}>
            <Text fw={600} size="sm" className="wrap">
              <bdi>{name}</bdi>
            </Text>
            {isYou && (
              <Badge variant="light" size="sm" tt="none">
                {words.you}
              </Badge>
            )}
          </Group>
          {member.email !== null && member.email !== name && (
            <Text size="sm" c="dimmed" fw={400} className="wrap">
              <bdi>{member.email}</bdi>
            </Text>
          )}
        </div>
      </Table.Th>
      <Table.Td role="cell" className="wrap member-role">
        <bdi>{member.roleName}</bdi>
      </Table.Td>
      <Table.Td role="cell" className="member-state">
        <State member={member} />
      </Table.Td>
      <Table.Td role="cell" className="member-joined">
        <span className="member-wide">{joined}</span>
        <span className="member-narrow">{joined !== '' && words.joinedOn(joined)}</span>
      </Table.Td>
      <Table.Td role="cell" className="member-actions">
        {isSaving ? <Loader size="xs" aria-label={words.saving(name)} role="status" /> : actions}
      </Table.Td>
    </Table.Tr>
  );
}

function State({ member }: { readonly member: Member }) {
  const { day } = useDates();
  const state = getMemberState(member);
  return (
    <Group gap={6}>
      <Badge variant="light" color={COLORS[state]} tt="none">
        {words.states[state]}
      </Badge>
      {member.expiresAt !== null && (
        <Text size="xs" c="dimmed" component="span">
          {(state === 'expired' ? words.since : words.until)(day(member.expiresAt))}
        </Text>
      )}
    </Group>
  );
}
