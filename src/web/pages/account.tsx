import { useQuery } from '@tanstack/react-query';
import { getDisplayName } from '../components/display-name.ts';
import { Page } from '../components/page.tsx';
import { Sections } from '../components/sections.tsx';
import { me } from '../session.ts';
import { accountTexts } from '../messages/account.ts';
import { connectedAppsTexts } from '../messages/oauth.ts';
import { Activity } from './account/activity.tsx';
import { ConnectedApps } from './account/connected-apps.tsx';
import { DataExport } from './account/data-export.tsx';
import { Deletion } from './account/deletion.tsx';
import { EmailAddress } from './account/email-address.tsx';
import { Passkeys } from './account/passkeys.tsx';
import { Password } from './account/password.tsx';
import { Profile } from './account/profile.tsx';
import { Sessions } from './account/sessions.tsx';

const SECTIONS = [
  { id: 'profile', title: accountTexts.profile.title },
  { id: 'email', title: accountTexts.email.title },
  { id: 'password', title: accountTexts.password.title },
  { id: 'passkeys', title: accountTexts.passkeys.title },
  { id: 'sessions', title: accountTexts.sessions.title },
  { id: 'apps', title: connectedAppsTexts.title },
  { id: 'activity', title: accountTexts.activity.title },
  { id: 'data', title: accountTexts.data.title },
  { id: 'deletion', title: accountTexts.deletion.title },
];

export function AccountPage() {
  const { data: account } = useQuery(me());
  if (account === undefined) return null; // the route has loaded it
  return (
    <Page title={accountTexts.title}>
      <Sections entries={SECTIONS}>
        <Profile account={account} />
        <EmailAddress account={account} />
        <Password email={account.email} />
        <Passkeys />
        <Sessions />
        <ConnectedApps />
        <Activity name={getDisplayName(account, account.id)} />
        <DataExport />
        <Deletion />
      </Sections>
    </Page>
  );
}
