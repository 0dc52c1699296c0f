import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { membersQuery } from '../../../page-queries.ts';
import { invitationsTexts } from '../../../messages/invitations.ts';
import { SEPARATOR } from '../../../messages/language.ts';
import { me } from '../../../session.ts';
import { useTeam } from '../team.ts';

const words = invitationsTexts.dialog;

type Addressees = {
  /** Those who get an invitation. */
  readonly invited: readonly string[];
  /** Active members. */
  readonly members: readonly string[];
  /** The email of the user. */
  readonly ofUser: string | undefined;
};

/** Sets members apart, who get no invitation. The service does not reveal who is a member by its responses. */
export function useAddressees(emails: readonly string[]): Addressees {
  const { team, can } = useTeam();
  const { data: person } = useQuery(me());
  const { data: members = [] } = useQuery({ ...membersQuery(team.id), enabled: can('access_dashboard') });
  const own = person?.email?.toLowerCase();
  // An invitation brings back members whose membership has expired.
  const active = new Set(members.flatMap(({ email, isActive }) => (isActive && email ? [email.toLowerCase()] : [])));
  const is = (email: string) => ({ own: email.toLowerCase() === own, active: active.has(email.toLowerCase()) });
  return {
    invited: emails.filter((email) => !is(email).own && !is(email).active),
    members: emails.filter((email) => !is(email).own && is(email).active),
    ofUser: emails.find((email) => is(email).own),
  };
}

export const AlreadyMembers = ({ members, ofUser }: Addressees) => (
  <div role="status">
    {(ofUser !== undefined || members.length > 0) && (
      <Alert color="yellow" className="wrap">
        {ofUser !== undefined && words.ofYou(ofUser)} {members.length > 0 && words.ofMembers(members.join(SEPARATOR))}
      </Alert>
    )}
  </div>
);
