import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { texts } from '../messages/console.ts';
import { teamTexts } from '../messages/team.ts';
import { me } from '../session.ts';
import { useCurrentTeam } from './current-team.ts';
import { ACCOUNT_PLACES, TEAM_PLACES } from './places.ts';

/** Links to the pages of the account. */
export function AccountNavigation() {
  const { data: person } = useQuery(me());
  return (
    <nav aria-label={texts.header.navigation} className="side-nav">
      {ACCOUNT_PLACES.map(
        ({ to, label, icon: Icon, ...place }) =>
          (!('isForOperators' in place) || person?.role === 'admin') && (
            <Link key={to} to={to} activeOptions={{ exact: to === '/' }}>
              <Icon size={18} />
              {label}
            </Link>
          ),
      )}
    </nav>
  );
}

/** Links to the pages of the team that the user can see. */
export function TeamNavigation() {
  const current = useCurrentTeam();
  if (current === undefined) return null;
  const { team, permissions } = current;
  return (
    <nav aria-label={teamTexts.navigation} className="side-nav">
      {TEAM_PLACES.map(
        ({ to, label, icon: Icon, permission }) =>
          (permission === undefined || permissions.includes(permission)) && (
            <Link key={to} to={to} params={{ teamId: team.slug }} activeOptions={{ exact: to === '/teams/$teamId' }}>
              <Icon size={18} />
              {label}
            </Link>
          ),
      )}
    </nav>
  );
}
