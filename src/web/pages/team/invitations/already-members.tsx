import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { membersQuery } from '../../../page-queries.ts';
import { invitationsTexts } from '../../../messages/invitations.ts';
import { me } from '../../../session.ts';
import { useTeam } from '../team.ts';
import { SEPARATOR } from '../../../messages/language.ts';

const words = invitationsTexts.dialog;

/** Warns before the user invites themselves or a member. The service does not reveal who is a member by its answers. */
export function AlreadyMembers({ emails }: { readonly emails: readonly string[] }) {
  const { team, can } = useTeam();
  const { data: person } = useQuery(me());
  const { data: members = [] } = useQuery({ ...membersQuery(team.id), enabled: can('access_dashboard') });
  const own = person?.email?.toLowerCase();
  // An invitation brings back members whose membership has expired.
  const active = new Set(members.flatMap(({ email, isActive }) => (isActive && email ? [email.toLowerCase()] : [])));
  const found = emails.filter((email) => active.has(email.toLowerCase()) && email.toLowerCase() !== own);
  const ofYou = emails.find((email) => email.toLowerCase() === own);
  return (
    <div role="status">
      {(ofYou !== undefined || found.length > 0) && (
        <Alert color="yellow" className="wrap">
          {ofYou !== undefined && words.ofYou(ofYou)} {found.length > 0 && words.ofMembers(found.join(SEPARATOR))}
        </Alert>
      )}
    </div>
  );
}
