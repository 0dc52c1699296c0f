import { Paper, Stack, Text, Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';

type SectionProps = {
  /** The fragment of the URL that leads to it. */
  readonly anchor?: string;
  readonly title: string;
  readonly explanation?: string;
  readonly children: ReactNode;
};

/** A titled block of a long page. */
export function Section({ anchor, title, explanation, children }: SectionProps) {
  const id = useId();
  return (
    <Paper
      component="section"
      id={anchor}
      tabIndex={anchor === undefined ? undefined : -1}
      withBorder
      radius="lg"
      className="section"
      aria-labelledby={id}
    >
      <div>
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {explanation !== undefined && (
          <Text size="sm" c="dimmed" mt={4}>
            {explanation}
          </Text>
        )}
      </div>
      <Stack gap="md">{children}</Stack>
    </Paper>
  );
}
