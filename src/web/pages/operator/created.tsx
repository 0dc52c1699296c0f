import { Text } from '@mantine/core';
import { useDates } from '../../components/dates.ts';

/** The day on which something was created. */
export function Created({ at }: { readonly at: string }) {
  const { day } = useDates();
  return (
    <Text size="sm" component="time" dateTime={at}>
      {day(at)}
    </Text>
  );
}
