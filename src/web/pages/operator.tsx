import { getRouteApi } from '@tanstack/react-router';
import { ButtonLink } from '../components/links.tsx';
import { Page } from '../components/page.tsx';
import { operatorTexts as words } from '../messages/operator.ts';
import { Health } from './operator/health.tsx';
import { Operators } from './operator/operators.tsx';
import { Search } from './operator/search.tsx';

const route = getRouteApi('/console/operator');

/** The start page of operators: search, and its results or else health and queue. */
export function OperatorPage() {
  const { find } = route.useSearch();
  return (
    <Operators>
      <Page
        title={words.title}
        explanation={words.explanation}
        action={
          <ButtonLink to="/operator/webhooks" variant="default">
            {words.webhooks}
          </ButtonLink>
        }
      >
        <Search sought={find} />
        {find === undefined && <Health />}
      </Page>
    </Operators>
  );
}
