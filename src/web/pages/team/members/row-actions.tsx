import { Loader } from '@mantine/core';
import { membersTexts as words } from '../../../messages/members.ts';
import { useTeam } from '../team.ts';
import { MemberMenu } from './member-menu.tsx';
import { actionsOn, getMemberName, type Action, type Member } from './member.ts';

type RowActionsProps = {
  readonly member: Member;
  /** The user, who sees fewer actions on their own row. */
  readonly readerId: string | undefined;
  readonly isSaving: boolean;
  readonly onAction: (action: Action, member: Member) => void;
};

/** The menu of a row, or a note that a change of it is being saved. */
export function RowActions({ member, readerId, isSaving, onAction }: RowActionsProps) {
  const page = useTeam();
  if (isSaving) return <Loader size="xs" aria-label={words.saving(getMemberName(member))} role="status" />;
  const actions = readerId === undefined ? [] : actionsOn(member, page, readerId);
  if (actions.length === 0) return null;
  return <MemberMenu member={member} actions={actions} onAction={(action) => onAction(action, member)} />;
}
