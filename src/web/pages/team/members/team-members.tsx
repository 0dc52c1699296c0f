import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { me } from '../../../session.ts';
import { membersTexts as words } from '../../../messages/members.ts';
import { trpc } from '../../../trpc.ts';
import { useTeam } from '../team.ts';
import { ChangeRole } from './change-role.tsx';
import { useMemberChanges } from './changes.ts';
import { Expiry } from './expiry.tsx';
import { MemberMenu, focusMenu } from './member-menu.tsx';
import { MemberRow } from './member-row.tsx';
import { MemberTable } from './member-table.tsx';
import { actionsOn, getMemberName, getMemberState, type Action, type Member } from './member.ts';
import { Offer } from './offer.tsx';
import { Removal } from './removal.tsx';

type Asked = { readonly action: Action; readonly member: Member };

/** The members and the dialogs of their rows. A dialog can outlive its row, so it is kept here. */
export function TeamMembers({ members }: { readonly members: readonly Member[] }) {
  const page = useTeam();
  const { team } = page;
  const { data: person } = useQuery(me());
  const { change, saving, refusal, forget } = useMemberChanges();
  const [asked, setAsked] = useState<Asked>();

  const act = (action: Action, member: Member) => {
    const [name, of] = [getMemberName(member), { teamId: team.id, userId: member.userId }];
    if (action === 'deactivate') {
      const call = () => trpc.members.deactivate.mutate(of);
      change({ member, now: { isActive: false }, call, notice: words.deactivated(name) });
    } else if (action === 'activate') {
      const now = { isActive: true, ...(getMemberState(member) === 'expired' && { expiresAt: null }) };
      change({ member, now, call: () => trpc.members.activate.mutate(of), notice: words.activated(name) });
    } else if (action === 'endless') {
      const call = () => trpc.members.setExpiry.mutate({ ...of, expiresAt: null });
      change({ member, now: { expiresAt: null }, call, notice: words.expiryRemoved(name) });
    } else setAsked({ action, member });
  };
  const renderRow = (member: Member) => {
    const actions = person === undefined ? [] : actionsOn(member, page, person.id);
    return (
      <MemberRow
        key={member.userId}
        member={member}
        isYou={member.userId === person?.id}
        isSaving={saving.has(member.userId)}
        actions={
          actions.length > 0 && (
            <MemberMenu member={member} actions={actions} onAction={(action) => act(action, member)} />
          )
        }
      />
    );
  };
  const dialog = asked && {
    member: asked.member,
    onClose: () => {
      setAsked(undefined);
      requestAnimationFrame(() => focusMenu(asked.member));
    },
  };
  return (
    <>
      {refusal !== undefined && (
        <div className="members-refusal">
          <FailureAlert failure={refusal.failure} onClose={forget}>
            <Text size="sm">{words.undone(getMemberName(refusal.member))}</Text>
          </FailureAlert>
        </div>
      )}
      <MemberTable members={members} row={renderRow} />
      {dialog && asked.action === 'role' && <ChangeRole {...dialog} onChange={change} />}
      {dialog && asked.action === 'expiry' && <Expiry {...dialog} />}
      {dialog && asked.action === 'offer' && <Offer {...dialog} />}
      {dialog && asked.action === 'remove' && <Removal {...dialog} />}
    </>
  );
}
