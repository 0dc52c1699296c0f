import { Link } from '@tanstack/react-router';
import { texts } from '../messages/console.ts';
import { teamTexts } from '../messages/team.ts';
import { useCurrentTeam } from './current-team.ts';
import { usePlaces } from './places.ts';

/** Links to the pages of the account. */
export function AccountNavigation() {
  const { ofAccount } = usePlaces();
  return (
    <nav aria-label={texts.header.navigation} className="side-nav">
      {ofAccount.map(({ to, label, icon: Icon }) => (
        <Link key={to} to={to} activeOptions={{ exact: to === '/' }}>
          <Icon size={18} />
          {label}
        </Link>
      ))}
    </nav>
  );
}

/** Links to the pages of the team that the user can see. */
export function TeamNavigation() {
  const current = useCurrentTeam();
  const { ofTeam } = usePlaces();
  if (current === undefined) return null;
  const { team } = current;
  return (
    <nav aria-label={teamTexts.navigation} className="side-nav">
      {ofTeam.map(({ to, label, icon: Icon }) => (
        <Link key={to} to={to} params={{ teamId: team.slug }} activeOptions={{ exact: to === '/teams/$teamId' }}>
          <Icon size={18} />
          {label}
        </Link>
      ))}
    </nav>
  );
}
