import { Paper, Text, Title } from '@mantine/core';
import { useId } from 'react';
import { TextLink } from '../../components/links.tsx';
import { describeNotice } from '../../components/notice.ts';
import { texts } from '../../messages/console.ts';
import type { Outputs } from '../../trpc.ts';

type WaitingProps = { readonly notices: Outputs['teams']['notices'] };

/** What waits for the user. Ownership that is offered has buttons of its own. */
export function Waiting({ notices }: WaitingProps) {
  const id = useId();
  const shown = notices.filter(({ kind }) => kind !== 'ownership');
  if (shown.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <Title order={2} size="h4" id={id} mb="sm">
        {texts.home.waiting}
      </Title>
      <Paper component="ul" withBorder radius="lg" className="card-list">
        {shown.map((notice) => {
          const { icon: Icon, text, link } = describeNotice(notice);
          return (
            <li key={`${notice.kind} ${notice.team?.id}`} className="row">
              <span className="row-icon">
                <Icon size={20} />
              </span>
              <Text size="sm" className="row-text wrap">
                <TextLink {...link}>{text}</TextLink>
              </Text>
            </li>
          );
        })}
      </Paper>
    </section>
  );
}
