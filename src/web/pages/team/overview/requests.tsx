import type { UseQueryResult } from '@tanstack/react-query';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { Placeholder } from '../../../components/page.tsx';
import { Section } from '../../../components/section.tsx';
import { UsagePlot } from '../../../components/usage-plot.tsx';
import { overviewTexts } from '../../../messages/team.ts';
import { toFailure, type Outputs } from '../../../trpc.ts';

const words = overviewTexts.usage;

type RequestsProps = {
  readonly usage: UseQueryResult<Outputs['apiKeys']['usageOfTeam']>;
  /** The number of keys that are not revoked. */
  readonly keys: number;
};

/** The requests of the team’s keys by day. Hidden from teams that never had any. */
export function Requests({ usage: { data, error, isPending, refetch }, keys }: RequestsProps) {
  if (keys === 0 && (data === undefined || data.length === 0)) return null;
  return (
    <Section title={words.title} explanation={words.explanation}>
      {error !== null && <FailureAlert failure={toFailure(error)} retry={() => void refetch()} />}
      {isPending && <Placeholder rows={1} height={220} />}
      {data !== undefined && <UsagePlot days={data} />}
    </Section>
  );
}
