import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { Key, People, type Icon } from '../components/icon.tsx';
import {
  AuditLog,
  Billing,
  Code,
  Invitation,
  Operator,
  Overview,
  Person,
  Roles,
  Settings,
  Teams,
  Webhook,
} from '../components/icons.tsx';
import { texts } from '../messages/console.ts';
import { teamTexts } from '../messages/team.ts';
import { maySee } from '../page-access.ts';
import { me } from '../session.ts';
import { useCurrentTeam } from './current-team.ts';

/** The pages of an account. */
const ACCOUNT_PLACES = [
  { to: '/', label: texts.header.teams, icon: Teams },
  { to: '/api-keys', label: texts.header.apiKeys, icon: Key },
  { to: '/account', label: texts.header.account, icon: Person },
  { to: '/developer', label: texts.header.developer, icon: Code },
  { to: '/operator', label: texts.header.operator, icon: Operator },
] as const satisfies readonly Place[];

/** The pages of a team. */
const TEAM_PLACES = [
  { to: '/teams/$teamId', label: teamTexts.overview, icon: Overview },
  { to: '/teams/$teamId/members', label: teamTexts.members, icon: People },
  { to: '/teams/$teamId/invitations', label: teamTexts.invitations, icon: Invitation },
  { to: '/teams/$teamId/roles', label: teamTexts.roles, icon: Roles },
  { to: '/teams/$teamId/api-keys', label: teamTexts.apiKeys, icon: Key },
  { to: '/teams/$teamId/billing', label: teamTexts.billing, icon: Billing },
  { to: '/teams/$teamId/webhooks', label: teamTexts.webhooks, icon: Webhook },
  { to: '/teams/$teamId/audit', label: teamTexts.audit, icon: AuditLog },
  { to: '/teams/$teamId/settings', label: teamTexts.settings, icon: Settings },
] as const satisfies readonly Place[];

type Place = { readonly to: string; readonly label: string; readonly icon: Icon };

/** Returns the pages of the account and of the team that the user may see, as their routes declare it. */
export function usePlaces() {
  const { routesByPath } = useRouter();
  const { data: person } = useQuery(me());
  const permissions = useCurrentTeam()?.permissions;
  const isSeen = ({ to }: { readonly to: keyof typeof routesByPath }): boolean => {
    const access = routesByPath[to].options.staticData?.access;
    return access !== undefined && maySee(access, { person, permissions });
  };
  return { ofAccount: ACCOUNT_PLACES.filter(isSeen), ofTeam: TEAM_PLACES.filter(isSeen) };
}
