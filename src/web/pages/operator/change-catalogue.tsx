import { Alert, Button, FileButton, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { useNotice } from '../../components/notices.tsx';
import { useSubmission } from '../../components/submission.ts';
import { useKept } from '../../kept.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { toFailure, trpc, type Inputs, type Outputs } from '../../trpc.ts';
import { CatalogueChanges, findUndecided, type Decisions } from './catalogue-changes.tsx';

const words = areaTexts.permissions;

type Content = Pick<Inputs['operator']['applyPermissions'], 'permissions' | 'removals'>;

type ChangeCatalogueProps = {
  readonly catalogue: Outputs['operator']['getPermissions'];
  readonly reread: () => Promise<unknown>;
  readonly onClose: () => void;
};

/** Replaces the catalogue by JSON that is pasted or read from a file, after a preview of what that changes. */
export function ChangeCatalogue({ catalogue, reread, onClose }: ChangeCatalogueProps) {
  const { version, permissions } = catalogue;
  const [text, setText] = useKept('catalogue', JSON.stringify({ permissions }, null, 2));
  const [fault, setFault] = useState<string>();
  const [content, setContent] = useKept<Content | undefined>('catalogue content', undefined);
  const [decisions, setDecisions] = useKept<Decisions>('catalogue decisions', {});
  const notify = useNotice();
  const preview = useSubmission({
    mutationFn: (given: Content) => trpc.operator.applyPermissions.mutate({ ...given, dryRun: true, version }),
    onSuccess: (_, given) => setContent(given),
  });
  const apply = useSubmission({
    isRepeatable: true,
    mutationFn: (given: Content) => trpc.operator.applyPermissions.mutate({ ...given, version }),
    onSuccess: async (change) => {
      await reread();
      onClose();
      notify(words.applied(change.version));
    },
  });
  const change = content === undefined ? undefined : preview.data;

  function submit() {
    const parsed = parse(text);
    setFault(typeof parsed === 'string' ? parsed : undefined);
    if (typeof parsed !== 'string') preview.submit(parsed);
  }

  if (change === undefined || content === undefined)
    return (
      <Dialog onClose={onClose} title={words.change} isBusy={preview.isPending} size="lg">
        <Stack gap="md">
          {preview.error !== null && <Refused error={preview.error} />}
          <Textarea
            label={words.content}
            description={words.contentHint}
            error={fault}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            rows={14}
            spellCheck={false}
            autoComplete="off"
            classNames={{ input: 'catalogue-content' }}
            data-autofocus
          />
          <div>
            <FileButton
              accept="application/json,.json"
              onChange={(file) => file && void file.text().then(setText, () => setFault(words.fileFailed))}
            >
              {(button) => (
                <Button {...button} variant="default" size="sm">
                  {words.file}
                </Button>
              )}
            </FileButton>
          </div>
          <DialogButtons onCancel={onClose} isBusy={preview.isPending}>
            <Button loading={preview.isPending} onClick={submit}>
              {words.preview}
            </Button>
          </DialogButtons>
        </Stack>
      </Dialog>
    );
  const isSame = change.added.length + change.changed.length + change.removed.length === 0;
  return (
    <Dialog onClose={onClose} title={words.previewTitle} isBusy={apply.isPending} size="lg">
      <Stack gap="md">
        {apply.error !== null && <Refused error={apply.error} />}
        {isSame && <Alert color="gray">{words.nothing}</Alert>}
        <CatalogueChanges
          change={change}
          names={content.permissions.map(({ name }) => name)}
          decisions={decisions}
          onDecide={setDecisions}
        />
        <DialogButtons onCancel={onClose} isBusy={apply.isPending}>
          <Button variant="default" disabled={apply.isPending} onClick={() => setContent(undefined)}>
            {words.back}
          </Button>
          <Button
            loading={apply.isPending}
            disabled={findUndecided(change, decisions).length > 0}
            onClick={() => apply.submit({ ...content, removals: { ...content.removals, ...decisions } })}
          >
            {words.apply}
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  );
}

/** Reads the content of a catalogue. The service checks the rest. @returns what is wrong with it, if it is no object */
function parse(text: string): Content | string {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && 'permissions' in value;
    return isObject && Array.isArray(value.permissions) ? (value as Content) : words.noObject;
  } catch (error) {
    return words.invalid(error instanceof Error ? error.message : String(error));
  }
}

/** A refusal with the places in the content that it is about. */
function Refused({ error }: { readonly error: Error }) {
  const failure = toFailure(error);
  return (
    <FailureAlert failure={failure}>
      {failure.errors.map(({ pointer }) => (
        <Text key={pointer} size="sm" className="wrap">
          {pointer}
        </Text>
      ))}
    </FailureAlert>
  );
}
