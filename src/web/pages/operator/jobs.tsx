import { Badge, Button, Code, Group, NativeSelect, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useDates } from '../../components/dates.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { TextLink } from '../../components/links.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Page } from '../../components/page.tsx';
import { RowButton } from '../../components/row-button.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, toFailure, trpc, type Outputs } from '../../trpc.ts';
import { List, Pager } from './list.tsx';
import { Operators } from './operators.tsx';

const words = areaTexts.jobs;
const route = getRouteApi('/console/operator/jobs');

type Job = Outputs['operator']['jobs']['jobs'][number];
const COLORS = { waiting: 'gray', running: 'blue', failed: 'red' } as const;
const isState = (value: string | undefined): value is Job['state'] =>
  value !== undefined && Object.hasOwn(COLORS, value);

/** Emails and other jobs that are not done. */
export const OperatorJobsPage = () => (
  <Operators>
    <Jobs />
  </Operators>
);

function Jobs() {
  const { show, cursor } = route.useSearch();
  const navigate = useNavigate();
  const notify = useNotice();
  const state = isState(show) ? show : undefined;
  const page = useQuery({
    ...query('operator.jobs', { ...(state && { state }), ...(cursor !== undefined && { after: cursor }) }),
    staleTime: 0,
  });
  const retry = useMutation({
    mutationFn: (jobId: string | undefined) => trpc.operator.retryJobs.mutate(jobId === undefined ? {} : { jobId }),
    onSuccess: ({ retried }) => notify(words.retried(retried)),
    onSettled: () => page.refetch(),
  });
  return (
    <Page
      title={words.title}
      explanation={words.explanation}
      action={
        <Button variant="default" loading={page.isRefetching} onClick={() => void page.refetch()}>
          {words.refresh}
        </Button>
      }
    >
      <Group align="end" justify="space-between">
        <NativeSelect
          label={areaTexts.list.show}
          value={state ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ to: '/operator/jobs', search: value === '' ? {} : { show: value } })
          }
          data={Object.entries(words.states).map(([value, label]) => ({ value, label }))}
        />
        <Button
          variant="default"
          loading={retry.isPending && retry.variables === undefined}
          onClick={() => retry.mutate(undefined)}
        >
          {words.retryAll}
        </Button>
      </Group>
      {retry.error !== null && <FailureAlert failure={toFailure(retry.error)} onClose={retry.reset} />}
      <List
        label={words.title}
        page={page}
        items={({ jobs }) => jobs}
        row={(job) => <JobRow key={job.id} job={job} isBusy={retry.isPending} retry={() => retry.mutate(job.id)} />}
        empty={{ title: words.emptyTitle, description: words.empty }}
      />
      <Pager cursor={cursor} next={page.data?.nextAfter} />
    </Page>
  );
}

type JobRowProps = { readonly job: Job; readonly isBusy: boolean; readonly retry: () => void };

function JobRow({
  job: { id, task, kind, subjectId, attempts, attemptsMax, nextAt, state, reason },
  ...rest
}: JobRowProps) {
  const { minute } = useDates();
  return (
    <li className="row">
      <div className="row-text">
        <Text fw={600} size="sm" className="wrap">
          {kind === null ? task : `${task}: ${kind}`}
        </Text>
        <Text size="sm" c="dimmed" className="wrap">
          {words.attempts({ attempts, max: attemptsMax })}, {words.due(minute(nextAt))}
          {subjectId?.startsWith('acc_') && (
            <>
              {', '}
              <TextLink to="/operator/accounts/$accountId" params={{ accountId: subjectId }} preload={false}>
                {subjectId}
              </TextLink>
            </>
          )}
        </Text>
        {reason !== null && (
          <Code block className="operator-reason">
            {reason}
          </Code>
        )}
      </div>
      <Group gap="xs">
        <Badge variant="light" color={COLORS[state]} tt="none">
          {words.states[state]}
        </Badge>
        {state === 'failed' && (
          <RowButton disabled={rest.isBusy} onClick={rest.retry} aria-label={words.retryOf(id)}>
            {words.retry}
          </RowButton>
        )}
      </Group>
    </li>
  );
}
