import { Checkbox, Radio, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Placeholder } from '../../components/page.tsx';
import { webhooksTexts as words } from '../../messages/webhooks.ts';
import { query, toFailure } from '../../trpc.ts';
import { useSeesAll, type TeamId } from './endpoints.ts';

type EventTypesProps = {
  readonly teamId: TeamId;
  /** Undefined for all. */
  readonly chosen: readonly string[] | undefined;
  readonly onChange: (chosen: string[] | undefined) => void;
};

/** The types of events that an endpoint gets: all, for who may see them all, or a checkbox for each. */
export function EventTypes({ teamId, chosen, onChange }: EventTypesProps) {
  const seesAll = useSeesAll(teamId);
  return (
    <>
      <Radio.Group
        label={words.events}
        value={chosen === undefined ? 'all' : 'some'}
        onChange={(value) => onChange(value === 'all' ? undefined : [])}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="all" label={words.all} disabled={!seesAll} description={seesAll ? undefined : words.needsAll} />
          <Radio value="some" label={words.some} />
        </Stack>
      </Radio.Group>
      {chosen !== undefined && <Choice teamId={teamId} chosen={chosen} onChange={onChange} />}
    </>
  );
}

function Choice({ teamId, chosen, onChange }: EventTypesProps & { readonly chosen: readonly string[] }) {
  const types = useQuery(query('webhooks.types', { teamId }));
  if (types.error !== null) return <FailureAlert failure={toFailure(types.error)} retry={() => void types.refetch()} />;
  if (types.data === undefined) return <Placeholder />;
  return (
    <Checkbox.Group label={words.types} value={[...chosen]} onChange={onChange}>
      <Stack gap="xs" className="webhook-types">
        {types.data.map(({ type, permission, isAvailable }) => (
          <Checkbox
            key={type}
            value={type}
            label={type}
            // What is chosen already can be given up.
            disabled={!isAvailable && !chosen.includes(type)}
            description={permission === null ? undefined : words.needs(permission)}
          />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
