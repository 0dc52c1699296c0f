import { Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { membersTexts as words } from '../../../messages/members.ts';
import { me } from '../../../session.ts';
import { useTeam } from '../team.ts';
import { MemberMenu } from './member-menu.tsx';
import { actionsOn, getMemberName, type Action, type Member } from './member.ts';

type RowActionsProps = {
  readonly member: Member;
  readonly isSaving: boolean;
  readonly onAction: (action: Action, member: Member) => void;
};

/** The menu of a row, or a note that a change of it is being saved. */
export function RowActions({ member, isSaving, onAction }: RowActionsProps) {
  const page = useTeam();
  const { data: person } = useQuery(me());
  if (isSaving) return <Loader size="xs" aria-label={words.saving(getMemberName(member))} role="status" />;
  const actions = person === undefined ? [] : actionsOn(member, page, person.id);
  if (actions.length === 0) return null;
  return <MemberMenu member={member} actions={actions} onAction={(action) => onAction(action, member)} />;
}
