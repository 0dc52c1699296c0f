import { Button, Group, NativeSelect } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Page } from '../../components/page.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { query, toFailure, trpc } from '../../trpc.ts';
import { COLORS, jobBulk, jobColumns, JobMenu, jobName, type Job } from './job-columns.tsx';
import { ListTable } from './list.tsx';
import { Operators } from './operators.tsx';

const words = areaTexts.jobs;
const route = getRouteApi('/console/operator/jobs');

const rowId = ({ id }: Job): string => id;
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
      isWide
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
      <ListTable
        label={words.title}
        page={page}
        items={({ jobs }) => jobs}
        columns={jobColumns}
        rowId={rowId}
        rowName={jobName}
        bulk={jobBulk}
        actions={(job) => (
          <JobMenu job={job} isBusy={retry.isPending && retry.variables === job.id} onRetry={retry.mutate} />
        )}
        empty={{ title: words.emptyTitle, description: words.empty }}
        cursor={cursor}
        next={page.data?.nextAfter}
      />
    </Page>
  );
}
