import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { TextLink } from '../../../components/links.tsx';
import { apiKeysTexts } from '../../../messages/api-keys.ts';
import { overviewTexts as words } from '../../../messages/team.ts';
import { useTeam } from '../team.ts';
import type { Overview } from './cards.tsx';

/** Whether at most a tenth of the seats, or one, is left. */
const isNearlyFull = ({ taken, seats }: Overview): boolean => seats - taken <= Math.max(1, seats / 10);

/** Warns of few free seats and of keys that expire soon. Only roles that can act on a warning see it. */
export function Notices({ overview }: { readonly overview: Overview }) {
  const { team, can } = useTeam();
  const params = { teamId: team.slug };
  const { expiringKeys, seats, taken } = overview;
  const managesSeats = can('invite_members') || can('access_billing');
  return (
    <>
      {managesSeats && isNearlyFull(overview) && (
        <Notice title={words.fewSeatsTitle(Math.max(0, seats - taken))}>{words.fewSeats}</Notice>
      )}
      {expiringKeys !== null && expiringKeys > 0 && (
        <Notice title={apiKeysTexts.expiringTitle(expiringKeys)}>
          {apiKeysTexts.expiring}{' '}
          <TextLink to="/teams/$teamId/api-keys" params={params} search={{ expires: 'expiring' }} underline="always">
            {words.first.keyLink}
          </TextLink>
        </Notice>
      )}
    </>
  );
}

const Notice = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <Alert color="yellow" title={title}>
    {children}
  </Alert>
);
