import { Badge, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useDates } from '../../components/dates.ts';
import { Placeholder } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { operatorTexts } from '../../messages/operator.ts';
import { query, type Outputs } from '../../trpc.ts';
import { Fact } from './fact.tsx';
import { Refusal } from './operators.tsx';
import { Queue } from './queue.tsx';

type State = Outputs['operator']['health'];

const words = operatorTexts.health;

const INTERVAL_MS = 15_000;

const COLORS = { none: 'gray', reachable: 'teal', unreachable: 'red' } as const;

/** The health of the deployment. It contains no user data, so it can be refreshed without an audit event. */
export function Health() {
  const health = useQuery({ ...query('operator.health'), staleTime: 0, refetchInterval: INTERVAL_MS });
  return (
    <>
      <Section title={words.title} explanation={words.explanation}>
        {health.error !== null && <Refusal error={health.error} retry={() => void health.refetch()} />}
        {health.isPending && <Placeholder rows={4} height={34} />}
        {health.data !== undefined && <Parts health={health.data} asOf={health.dataUpdatedAt} />}
      </Section>
      {(health.isPending || health.data !== undefined) && <Queue jobs={health.data?.jobs} />}
    </>
  );
}

function Parts({ health, asOf }: { readonly health: State; readonly asOf: number }) {
  const { minute } = useDates();
  const { version, uptimeSeconds, database, redis } = health;
  return (
    <dl className="values operator-values">
      <Fact label={words.version}>{version}</Fact>
      <Fact label={words.since}>{minute(new Date(asOf - uptimeSeconds * 1000).toISOString())}</Fact>
      <Fact label={words.database}>
        {words.databaseVersion(database.version)}
        <Text size="sm" c="dimmed" mt={2}>
          {words.latency(database.latencyMs)}
        </Text>
      </Fact>
      <Fact label={words.redis}>
        <Badge variant="light" color={COLORS[redis]} tt="none">
          {words.redisStates[redis]}
        </Badge>
        <Text size="sm" c="dimmed" mt={4}>
          {words.redisHints[redis]}
        </Text>
      </Fact>
    </dl>
  );
}
