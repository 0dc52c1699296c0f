import { Badge, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useDates } from '../../../components/dates.ts';
import { PersonPicture } from '../../../components/picture.tsx';
import { membersTexts as words } from '../../../messages/members.ts';
import { me } from '../../../session.ts';
import { getMemberName, getMemberState, type Member, type MemberState } from './member.ts';
import { Name } from '../../../components/name.tsx';

const COLORS: Readonly<Record<MemberState, string>> = { active: 'teal', inactive: 'gray', expired: 'yellow' };

type CellProps = { readonly member: Member };

/** Picture, name and email. */
export function Who({ member }: CellProps) {
  const { data: person } = useQuery(me());
  const name = getMemberName(member);
  return (
    <div className="member-who">
      <PersonPicture name={name} src={member.avatar} seed={member.accountId} size={36} />
      <div className="member-name">
        <Group gap={8}>
          <Text fw={600} size="sm" className="wrap">
            <Name>{name}</Name>
          </Text>
          {member.accountId === person?.id && (
            <Badge variant="light" size="sm" tt="none">
              {words.you}
            </Badge>
          )}
        </Group>
        {member.email !== null && member.email !== name && (
          <Text size="sm" c="dimmed" className="wrap">
            <Name>{member.email}</Name>
          </Text>
        )}
      </div>
    </div>
  );
}

/** Whether the membership is active, and its end date. */
export function State({ member }: CellProps) {
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

export function Joined({ member }: CellProps) {
  const { day } = useDates();
  return member.joinedAt === null ? null : <time dateTime={member.joinedAt}>{day(member.joinedAt)}</time>;
}
