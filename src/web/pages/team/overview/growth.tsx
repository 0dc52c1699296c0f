import { Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { DayPlot, lastDays } from '../../../components/day-plot.tsx';
import { FailureAlert } from '../../../components/failure-alert.tsx';
import { Placeholder } from '../../../components/page.tsx';
import { Section } from '../../../components/section.tsx';
import { membersTexts } from '../../../messages/members.ts';
import { overviewTexts } from '../../../messages/team.ts';
import { toFailure, type Outputs } from '../../../trpc.ts';

const words = overviewTexts.growth;

type GrowthProps = { readonly history: UseQueryResult<Outputs['members']['history']> };

/** The members of the team by day, as a plot and a table. */
export function Growth({ history: { data, error, isPending, refetch } }: GrowthProps) {
  const [first, last] = [data?.[0]?.members ?? 0, data?.at(-1)?.members ?? 0];
  const days = data === undefined ? [] : lastDays(data.map(({ day, members }) => ({ day, value: members })));
  return (
    <Section title={words.title} explanation={words.explanation}>
      {error !== null && <FailureAlert failure={toFailure(error)} retry={() => void refetch()} />}
      {isPending && <Placeholder rows={1} height={220} />}
      {data !== undefined && (
        <div>
          <Text size="sm" fw={600}>
            {first === last ? membersTexts.table.count(last) : words.change({ first, last })}
          </Text>
          <DayPlot
            days={days}
            caption={words.caption}
            dayTitle={words.day}
            valueTitle={words.members}
            barTitle={({ day, value }) => words.bar({ day, members: value })}
            // Before the team existed.
            isOmitted={(value) => value === 0}
          />
        </div>
      )}
    </Section>
  );
}
