import { Code, Text, Title } from '@mantine/core';
import { useDates } from '../../components/dates.ts';
import { Placeholder } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { operatorTexts } from '../../messages/operator.ts';
import type { Outputs } from '../../trpc.ts';
import { SEPARATOR } from '../../messages/language.ts';
import { Figures } from './fact.tsx';
import { neutralizeLines } from '../../../messages/neutralize.ts';

type Jobs = Outputs['operator']['health']['jobs'];

const words = operatorTexts.queue;

/** Background jobs; undefined while loading. */
export const Queue = ({ jobs }: { readonly jobs: Jobs | undefined }) => (
  <Section title={words.title} explanation={words.explanation}>
    {jobs === undefined ? <Placeholder rows={2} height={36} /> : <State jobs={jobs} />}
  </Section>
);

const State = ({ jobs: { waiting, running, failed, failures } }: { readonly jobs: Jobs }) => (
  <>
    <Figures
      of={[
        [words.waiting, waiting],
        [words.running, running],
        [words.failed, failed],
      ]}
    />
    {failures.length === 0 ? (
      <Text size="sm" c="dimmed">
        {words.noFailures}
      </Text>
    ) : (
      <div>
        <Title order={3} size="h6" mb="sm">
          {words.failures}
        </Title>
        <ul className="rows">
          {failures.map((failure) => (
            <FailureRow key={failure.id} failure={failure} />
          ))}
        </ul>
      </div>
    )}
  </>
);

function FailureRow({ failure }: { readonly failure: Jobs['failures'][number] }) {
  const { minute } = useDates();
  return (
    <li className="row">
      <div className="row-text">
        <Text fw={600} size="sm">
          {failure.task}
        </Text>
        <Text size="sm" c="dimmed">
          {words.attempts({ attempts: failure.attempts, max: failure.attemptsMax })}
          {SEPARATOR}
          {words.nextAt(minute(failure.nextAt))}
        </Text>
        <Code block className="operator-reason">
          {neutralizeLines(failure.reason)}
        </Code>
      </div>
    </li>
  );
}
