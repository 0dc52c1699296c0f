import { Button, Group } from '@mantine/core';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Section } from '../../components/section.tsx';
import { useSubmission } from '../../components/submission.ts';
import { saveFile } from '../../components/table/csv.ts';
import { accountTexts } from '../../messages/account.ts';
import { toFailure, trpc, type Outputs } from '../../trpc.ts';

const words = accountTexts.data;

const PAGE_SIZE = 500;

/** Downloads what the service stores about the user. */
export function DataExport() {
  const notify = useNotice();
  const save = useSubmission({
    isRepeatable: true,
    mutationFn: downloadAll,
    onSuccess: () => notify(words.saved),
  });
  return (
    <Section anchor="data" title={words.title} explanation={words.explanation}>
      {save.error !== null && <FailureAlert failure={toFailure(save.error)} onClose={save.reset} />}
      <Group>
        <Button variant="default" loading={save.isPending} onClick={() => save.submit()}>
          {words.download}
        </Button>
      </Group>
    </Section>
  );
}

async function downloadAll(): Promise<void> {
  const stored = await trpc.account.export.query();
  const events: Outputs['account']['activity']['events'][number][] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await trpc.account.activity.query({ limit: PAGE_SIZE, ...(cursor && { cursor }) });
    events.push(...page.events);
    cursor = page.nextCursor;
  }
  const all = { exportedAt: new Date().toISOString(), ...stored, events };
  saveFile('account.json', [`${JSON.stringify(all, null, 2)}\n`]);
}
