import { Button, FileButton, Group, Stack, Text, TextInput } from '@mantine/core';
import { useRef, useState, type ReactNode } from 'react';
import { pictureTexts as words } from '../messages/pictures.ts';
import { findFileFault, PICTURE_TYPES, setPicture } from '../picture-upload.ts';
import { toFailure, type Failure } from '../trpc.ts';
import { FailureAlert } from './failure-alert.tsx';
import { useSubmission } from './submission.ts';

type PictureFieldProps = {
  /** The path to which the picture is sent. */
  readonly path: string;
  /** The picture as it is now. */
  readonly children: ReactNode;
  readonly hasPicture: boolean;
  readonly onSet: (url: string) => void;
  readonly remove: () => Promise<unknown>;
};

/** Chooses, replaces and removes a picture. */
export function PictureField({ path, children, hasPicture, onSet, remove }: PictureFieldProps) {
  const [progress, setProgress] = useState<number>();
  const [fault, setFault] = useState<'wrongType' | 'tooLarge'>();
  const [url, setUrl] = useState('');
  // Without it, the same file could not be chosen again.
  const reset = useRef<() => void>(null);
  const setting = useSubmission({
    isRepeatable: true,
    mutationFn: (picture: File | { readonly url: string }) => setPicture(path, picture, setProgress),
    onSuccess: (stored) => {
      setUrl('');
      onSet(stored);
    },
    onSettled: () => setProgress(undefined),
  });
  const removal = useSubmission({ isRepeatable: true, mutationFn: remove });
  const isBusy = setting.isPending || removal.isPending;

  function choose(file: File | null): void {
    if (file === null || isBusy) return;
    reset.current?.();
    removal.reset();
    const found = findFileFault(file);
    setFault(found);
    if (found === undefined) setting.submit(file);
  }

  const error = setting.error ?? removal.error;
  const failure: Failure | undefined =
    fault === undefined
      ? error === null
        ? undefined
        : toFailure(error)
      : { ...words[fault], code: null, requestId: null, errors: [] };
  const isUrlRefused = failure?.errors.some(({ pointer }) => pointer === '/url') === true;
  return (
    <Stack gap="sm" role="group" aria-label={words.label}>
      <Group gap="md" wrap="nowrap">
        {children}
        <div>
          <Group gap="xs">
            <FileButton accept={PICTURE_TYPES.join()} onChange={choose} resetRef={reset}>
              {(props) => (
                <Button {...props} variant="default" loading={setting.isPending} disabled={removal.isPending}>
                  {hasPicture ? words.replace : words.choose}
                </Button>
              )}
            </FileButton>
            {hasPicture && (
              <Button
                variant="subtle"
                color="red"
                loading={removal.isPending}
                disabled={setting.isPending}
                onClick={() => removal.submit()}
              >
                {words.remove}
              </Button>
            )}
          </Group>
          <Text size="sm" c="dimmed" mt={4} role="status">
            {setting.isPending ? describe(progress) : words.hint}
          </Text>
        </div>
      </Group>
      {failure !== undefined && !isUrlRefused && <FailureAlert failure={failure} />}
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setFault(undefined);
          if (url.trim() !== '') setting.submit({ url: url.trim() });
        }}
      >
        <Group gap="xs" align="end">
          <TextInput
            label={words.url}
            description={words.urlHint}
            error={isUrlRefused && words.urlRefused}
            type="url"
            name="pictureUrl"
            placeholder="https://"
            autoComplete="off"
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            flex="1 1 12rem"
          />
          <Button type="submit" variant="default" disabled={isBusy || url.trim() === ''}>
            {words.fetch}
          </Button>
        </Group>
      </form>
    </Stack>
  );
}

const describe = (progress: number | undefined): string =>
  progress === undefined || progress >= 1 ? words.processing : words.sending(Math.floor(progress * 100));
