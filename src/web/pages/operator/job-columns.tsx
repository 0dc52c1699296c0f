import { Badge, Code, Menu, Text } from '@mantine/core';
import { useDates } from '../../components/dates.ts';
import { TextLink } from '../../components/links.tsx';
import { RowMenu } from '../../components/row-menu.tsx';
import type { BulkAction } from '../../components/table/bulk/bulk-action.ts';
import type { Column } from '../../components/table/column.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { neutralizeLines } from '../../../messages/neutralize.ts';

export type Job = Outputs['operator']['jobs']['jobs'][number];

const words = areaTexts.jobs;

export const COLORS = { waiting: 'gray', running: 'blue', failed: 'red' } as const;

export const jobName = ({ task, kind }: Job): string => (kind === null ? task : `${task}: ${kind}`);

/** The columns of the queue. */
export const jobColumns: readonly Column<Job>[] = [
  {
    id: 'job',
    title: words.job,
    value: jobName,
    cell: (job) => <JobCell job={job} />,
    search: (job) => `${jobName(job)} ${job.id} ${job.reason ?? ''}`,
  },
  { id: 'id', title: 'ID', value: ({ id }) => id, cell: () => null, isExportOnly: true },
  {
    id: 'about',
    title: words.about,
    value: ({ subjectId }) => subjectId,
    cell: ({ subjectId }) => <Subject id={subjectId} />,
    search: ({ subjectId }) => subjectId ?? '',
    width: '20%',
  },
  {
    id: 'attempts',
    title: words.attemptsColumn,
    value: ({ attempts }) => attempts,
    cell: ({ attempts, attemptsMax }) => <Text size="sm">{words.attempts({ attempts, max: attemptsMax })}</Text>,
    width: '13%',
  },
  { id: 'due', title: words.dueColumn, value: ({ nextAt }) => nextAt, cell: (job) => <Due job={job} />, width: '15%' },
  {
    id: 'state',
    title: words.state,
    value: ({ state }) => words.states[state],
    cell: ({ state }) => (
      <Badge variant="light" color={COLORS[state]} tt="none">
        {words.states[state]}
      </Badge>
    ),
    width: '14%',
  },
  { id: 'reason', title: words.reason, value: ({ reason }) => reason, cell: () => null, isExportOnly: true },
];

export const jobBulk: readonly BulkAction<Job>[] = [
  {
    id: 'retry',
    ...words.bulkRetry,
    applies: ({ state }) => state === 'failed',
    call: ({ id }) => trpc.operator.retryJobs.mutate({ jobId: id }),
  },
];

type CellProps = { readonly job: Job };

const JobCell = ({ job }: CellProps) => (
  <>
    <Text fw={600} size="sm" className="wrap">
      {jobName(job)}
    </Text>
    {job.reason !== null && (
      <Code block className="operator-reason">
        {neutralizeLines(job.reason)}
      </Code>
    )}
  </>
);

const Subject = ({ id }: { readonly id: string | null }) =>
  id?.startsWith('acc_') === true ? (
    <TextLink to="/operator/accounts/$accountId" params={{ accountId: id }} preload={false} size="sm" className="wrap">
      {id}
    </TextLink>
  ) : (
    id !== null && (
      <Text size="sm" className="wrap">
        {id}
      </Text>
    )
  );

function Due({ job: { nextAt } }: CellProps) {
  const { minute } = useDates();
  return (
    <Text size="sm" component="time" dateTime={nextAt}>
      {minute(nextAt)}
    </Text>
  );
}

type JobMenuProps = CellProps & { readonly isBusy: boolean; readonly onRetry: (id: string) => void };

/** What can be done with a failed job. */
export const JobMenu = ({ job, isBusy, onRetry }: JobMenuProps) =>
  job.state === 'failed' && (
    <RowMenu name={jobName(job)} id={job.id} isBusy={isBusy}>
      <Menu.Item onClick={() => onRetry(job.id)} aria-label={words.retryOf(job.id)}>
        {words.retry}
      </Menu.Item>
    </RowMenu>
  );
