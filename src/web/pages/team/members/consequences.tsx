import { Checkbox, Text } from '@mantine/core';
import { getRoleLabel } from '../../../components/role-label.ts';
import { membersTexts as words } from '../../../messages/members.ts';
import type { Outputs } from '../../../trpc.ts';
import { useTeam } from '../team.ts';

type Preview = Outputs['members']['removalPreview'];

type ConsequencesProps = {
  readonly preview: Preview;
  readonly isRevoked: boolean;
  readonly onChange: (isRevoked: boolean) => void;
};

/** Lists what a removal ends, and what it leaves unless the user wants to end that too. */
export function Consequences({ preview, ...staying }: ConsequencesProps) {
  const { team } = useTeam();
  return (
    <>
      <Stopping preview={preview} isOwner={team.role.id === 'owner'} />
      <Staying invitations={preview.invitations.filter(({ isEnding }) => !isEnding)} {...staying} />
    </>
  );
}

type StoppingProps = { readonly preview: Preview; readonly isOwner: boolean };

function Stopping({ preview: { apiKeys, oauthGrants, ownershipOffer, invitations }, isOwner }: StoppingProps) {
  const ending = invitations.filter(({ isEnding }) => isEnding);
  if (apiKeys.length === 0 && oauthGrants === 0 && !ownershipOffer && ending.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {words.removeStopsNothing}
      </Text>
    );
  return (
    <div>
      <Text size="sm" fw={600}>
        {words.removeStops}
      </Text>
      <ul className="facts wrap">
        {apiKeys.map(({ id, name, last4 }) => (
          <li key={id}>{words.removeKey({ name, last4 })}</li>
        ))}
        {oauthGrants > 0 && <li>{words.removeApplications(oauthGrants)}</li>}
        {ownershipOffer && <li>{isOwner ? words.removeOffer : words.removeOfferOfOwner}</li>}
        <Invitations invitations={ending} />
      </ul>
    </div>
  );
}

type InvitationsProps = { readonly invitations: Preview['invitations'] };

/** Lists invitations, or says how many there are to who cannot see their addresses. */
function Invitations({ invitations }: InvitationsProps) {
  const hidden = invitations.filter(({ email }) => email === null).length;
  return (
    <>
      {invitations.map(
        ({ id, email, roleName }) =>
          email !== null && <li key={id}>{words.removeInvitation({ email, role: getRoleLabel(roleName) })}</li>,
      )}
      {hidden > 0 && <li>{words.removeInvitations(hidden)}</li>}
    </>
  );
}

type StayingProps = InvitationsProps & {
  readonly isRevoked: boolean;
  readonly onChange: (isRevoked: boolean) => void;
};

/** Offers to end the other invitations too, to who could revoke each of them. */
function Staying({ invitations, isRevoked, onChange }: StayingProps) {
  if (invitations.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600}>
        {words.removeStays}
      </Text>
      <ul className="facts wrap">
        <Invitations invitations={invitations} />
      </ul>
      {invitations.every(({ email }) => email !== null) && (
        <Checkbox
          mt="xs"
          label={words.removeOthers}
          checked={isRevoked}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      )}
    </div>
  );
}
