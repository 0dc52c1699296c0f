import { useQuery } from '@tanstack/react-query';
import { Page } from '../components/page.tsx';
import { me } from '../session.ts';
import { accountTexts } from '../messages/account.ts';
import { ConnectedApps } from './account/connected-apps.tsx';
import { Deletion } from './account/deletion.tsx';
import { EmailAddress } from './account/email-address.tsx';
import { Passkeys } from './account/passkeys.tsx';
import { Password } from './account/password.tsx';
import { Profile } from './account/profile.tsx';
import { Sessions } from './account/sessions.tsx';

export function AccountPage() {
  const { data: account } = useQuery(me());
  if (account === undefined) return null; // the route has loaded it
  return (
    <Page title={accountTexts.title}>
      <Profile account={account} />
      <EmailAddress account={account} />
      <Password email={account.email} />
      <Passkeys />
      <Sessions />
      <ConnectedApps />
      <Deletion />
    </Page>
  );
}
