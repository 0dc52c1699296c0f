import { linkOptions } from '@tanstack/react-router';
import { frameTexts } from '../messages/frame.ts';
import type { Outputs } from '../trpc.ts';
import { getTeamName } from './display-name.ts';
import { Key, People, Switch } from './icon.tsx';

type Notice = Outputs['teams']['notices'][number];

const words = frameTexts.notices;
const search = { expires: 'expiring' };

/** Returns the text of a notice, its icon, and the page where something can be done about it. */
export function describeNotice({ kind, team, count }: Notice) {
  if (team === null)
    return { icon: Key, text: words.ownKeys(count), link: linkOptions({ to: '/api-keys', search }) } as const;
  const params = { teamId: team.slug };
  const name = getTeamName(team);
  if (kind === 'keys')
    return {
      icon: Key,
      text: words.keys({ count, team: name }),
      link: linkOptions({ to: '/teams/$teamId/api-keys', params, search }),
    } as const;
  if (kind === 'ownership')
    return {
      icon: Switch,
      text: words.ownership(name),
      link: linkOptions({ to: '/teams/$teamId/members', params }),
    } as const;
  return {
    icon: People,
    text: words.seats({ count, team: name }),
    // Users who have the notice and cannot see the plan can invite, and so revoke invitations.
    link: team.seesBilling
      ? linkOptions({ to: '/teams/$teamId/billing', params })
      : linkOptions({ to: '/teams/$teamId/invitations', params }),
  } as const;
}
