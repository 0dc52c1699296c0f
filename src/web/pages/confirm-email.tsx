import { useQueryClient } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { ButtonLink, TextLink } from '../components/links.tsx';
import { LinkPage } from '../components/link-page.tsx';
import { me } from '../session.ts';
import { accountTexts } from '../messages/account.ts';
import { publicTexts } from '../messages/public.ts';
import { texts } from '../messages/console.ts';
import { trpc } from '../trpc.ts';

export function ConfirmEmail() {
  const { token } = useSearch({ from: '/public/confirm-email' });
  const queries = useQueryClient();
  return (
    <LinkPage
      purpose="change_email"
      token={token}
      words={accountTexts.emailChange}
      call={(given) => trpc.account.confirmEmailChange.mutate({ token: given })}
      onDone={() => queries.removeQueries(me())}
      another={
        <p className="card-foot">
          <TextLink to="/account">{publicTexts.link.toAccount}</TextLink>
        </p>
      }
      next={
        <ButtonLink to="/" size="md" fullWidth>
          {texts.toTeams}
        </ButtonLink>
      }
    />
  );
}
