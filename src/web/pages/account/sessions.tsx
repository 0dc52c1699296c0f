import { Badge, Button, Group, Text } from '@mantine/core';
import { RowButton } from '../../components/row-button.tsx';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useDates } from '../../components/dates.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Device } from '../../components/icons.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Name } from '../../components/name.tsx';
import { Placeholder } from '../../components/page.tsx';
import { ProvenMethods } from '../../components/proven-methods.tsx';
import { Section } from '../../components/section.tsx';
import { accountTexts } from '../../messages/account.ts';
import { toFailure, query, trpc, type Outputs } from '../../trpc.ts';
import { useSubmission } from '../../components/submission.ts';
import { SEPARATOR } from '../../messages/language.ts';

type Session = Outputs['sessions']['list'][number];

const words = accountTexts.sessions;

export function Sessions() {
  const sessions = useQuery(query('sessions.list'));
  const queries = useQueryClient();
  const notify = useNotice();
  const others = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.sessions.revokeOthers.mutate(),
    onSuccess: async ({ revoked }) => {
      await queries.invalidateQueries(query('sessions.list'));
      notify(words.othersDone(revoked));
    },
  });
  return (
    <Section anchor="sessions" title={words.title} explanation={words.explanation}>
      {sessions.error !== null && (
        <FailureAlert failure={toFailure(sessions.error)} retry={() => void sessions.refetch()} />
      )}
      {sessions.isPending && <Placeholder rows={2} />}
      {sessions.data !== undefined && (
        <ul className="rows">
          {sessions.data.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </ul>
      )}
      {others.error !== null && <FailureAlert failure={toFailure(others.error)} />}
      {sessions.data?.some(({ isCurrentSession }) => !isCurrentSession) && (
        <Group>
          <Button variant="default" loading={others.isPending} onClick={() => others.submit()}>
            {words.others}
          </Button>
        </Group>
      )}
    </Section>
  );
}

function SessionRow({ session }: { readonly session: Session }) {
  const { minute, country } = useDates();
  const queries = useQueryClient();
  const notify = useNotice();
  const revoke = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.revokeMySession.mutate({ sessionId: session.id }),
    onSuccess: async () => {
      await queries.invalidateQueries(query('sessions.list'));
      notify(words.revoked);
    },
  });
  const device = describeDevice(session);
  const location = [session.city, session.country === null ? null : country(session.country)]
    .filter((part) => part !== null)
    .join(SEPARATOR);
  return (
    <li className="row">
      <span className="row-icon">
        <Device />
      </span>
      <div className="row-text">
        <Group gap="xs">
          <Text fw={600}>{device}</Text>
          {session.isCurrentSession && (
            <Badge variant="light" color="teal" tt="none">
              {words.current}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed">
          {location === '' ? words.unknownLocation : location}
          {SEPARATOR}
          {words.since(minute(session.createdAt))}
        </Text>
        {session.applications.map((name) => (
          <Text key={name} size="sm" c="dimmed" className="wrap">
            {words.application(name)}
          </Text>
        ))}
        <ProvenMethods methods={session.methods.map(({ method }) => method)} />
        {/* Uses are written in batches, at most a minute late. */}
        {session.lastUsedAt !== null && (
          <Text size="sm" c="dimmed" className="sentence">
            {words.used(minute(session.lastUsedAt))}
            {session.lastAddress !== null && (
              <>
                {' · '}
                <Name className="wrap" dir="ltr">
                  {session.lastAddress}
                </Name>
              </>
            )}
          </Text>
        )}
        {revoke.error !== null && <FailureAlert failure={toFailure(revoke.error)} />}
      </div>
      {!session.isCurrentSession && (
        <RowButton
          color="red"
          loading={revoke.isPending}
          onClick={() => revoke.submit()}
          aria-label={words.revokeOf(device)}
        >
          {words.revoke}
        </RowButton>
      )}
    </li>
  );
}

function describeDevice({ browser, os }: Session): string {
  if (browser !== null && os !== null) return words.on({ browser, os });
  return browser ?? os ?? words.unknownDevice;
}
