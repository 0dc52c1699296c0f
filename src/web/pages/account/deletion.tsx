import { Button, Group } from '@mantine/core';
import { Confirmation } from '../../components/confirmation.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Section } from '../../components/section.tsx';
import { accountTexts } from '../../messages/account.ts';
import { useSessionStart } from '../../session.ts';
import { trpc } from '../../trpc.ts';
import { useKept } from '../../kept.ts';

const words = accountTexts.deletion;

export function Deletion() {
  const [asking, setAsking] = useKept('deleting', false);
  const start = useSessionStart();
  const notify = useNotice();
  return (
    <Section anchor="deletion" title={words.title} explanation={words.explanation}>
      <Group>
        <Button variant="outline" color="red" onClick={() => setAsking(true)}>
          {words.open}
        </Button>
      </Group>
      {asking && (
        <Confirmation
          title={words.confirmTitle}
          explanation={words.confirm}
          submit={words.submit}
          call={() => trpc.account.delete.mutate()}
          onSuccess={() => {
            start('/sign-in');
            notify(words.done);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </Section>
  );
}
