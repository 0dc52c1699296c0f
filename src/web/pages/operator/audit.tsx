import { Alert, Code, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useDates } from '../../components/dates.ts';
import { TextLink } from '../../components/links.tsx';
import { Page } from '../../components/page.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, type Outputs } from '../../trpc.ts';
import { AuditFilters } from './audit-filters.tsx';
import { List, Pager } from './list.tsx';
import { Operators, VIEW } from './operators.tsx';
import { toInstant } from './values.ts';

const words = areaTexts.audit;
const route = getRouteApi('/console/operator/audit');

/** The whole audit log, newest first, with filters that all have to match. */
export const OperatorAuditPage = () => (
  <Operators>
    <Audit />
  </Operators>
);

const DAY_MS = 24 * 60 * 60 * 1000;
const isDay = (text: string | undefined): text is string => text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text);

/** Returns the beginning of the day after. */
const dayAfter = (day: string): string => new Date(Date.parse(toInstant(day)) + DAY_MS).toISOString();

function Audit() {
  const { event, from, to, cursor, ...ids } = route.useSearch();
  const navigate = useNavigate();
  const names = useQuery({ ...query('operator.eventNames'), staleTime: Infinity });
  const name = names.data?.find((each) => each === event);
  const page = useQuery({
    ...query('operator.audit', {
      ...ids,
      ...(name !== undefined && { event: name }),
      ...(isDay(from) && { from: toInstant(from) }),
      ...(isDay(to) && { to: dayAfter(to) }),
      ...(cursor !== undefined && { cursor }),
    }),
    ...VIEW,
    // A filter by an action needs its name to be known.
    enabled: event === undefined || names.data !== undefined,
  });
  return (
    <Page title={words.title} explanation={words.explanation}>
      <AuditFilters
        events={names.data ?? []}
        filters={{ ...ids, ...(event && { event }), ...(from && { from }), ...(to && { to }) }}
        onFilter={(search) => void navigate({ to: '/operator/audit', search })}
      />
      <List
        label={words.title}
        page={page}
        items={({ events }) => events}
        row={(each) => <EventRow key={each.id} event={each} />}
        empty={{ title: words.emptyTitle, description: words.empty }}
      />
      {page.data?.isPartial && <Alert color="gray">{words.partial}</Alert>}
      <Pager cursor={cursor} next={page.data?.nextCursor} />
    </Page>
  );
}

type Event = Outputs['operator']['audit']['events'][number];

function EventRow({ event }: { readonly event: Event }) {
  const { minute } = useDates();
  const { actor, credential, account, team, target, requestId, details, count } = event;
  const facts = [
    actor.account === null && words.by(words.kinds[actor.kind]),
    credential !== null && words.key(credential.name ?? credential.id),
    actor.address !== null && words.address(actor.address),
    target?.id,
    requestId !== null && words.request(requestId),
    count > 1 && words.times(count),
  ];
  return (
    <li className="row row-high">
      <Text fw={600} size="sm" className="wrap">
        {event.event} <time dateTime={event.occurredAt}>{minute(event.occurredAt)}</time>
      </Text>
      <Text size="sm" className="wrap operator-links">
        {actor.account !== null && <AccountLink account={actor.account} text={words.by} />}
        {account !== null && account.id !== actor.account?.id && <AccountLink account={account} text={words.about} />}
        {team !== null && (
          <TextLink to="/operator/teams/$teamId" params={{ teamId: team.id }} preload={false}>
            {words.team(team.name ?? team.id)}
          </TextLink>
        )}
      </Text>
      <Text size="sm" c="dimmed" className="wrap">
        {facts.filter(Boolean).join(' · ')}
      </Text>
      {Object.keys(details).length > 0 && (
        <details>
          <summary>{words.details}</summary>
          <Code block className="operator-reason">
            {JSON.stringify(details, null, 2)}
          </Code>
        </details>
      )}
    </li>
  );
}

type AccountLinkProps = {
  readonly account: NonNullable<Event['account']>;
  readonly text: (name: string) => string;
};

const AccountLink = ({ account: { id, name }, text }: AccountLinkProps) => (
  <TextLink to="/operator/accounts/$accountId" params={{ accountId: id }} preload={false}>
    {text(name ?? id)}
  </TextLink>
);
