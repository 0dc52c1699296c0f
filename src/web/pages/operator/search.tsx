import { Button, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState, type SubmitEvent } from 'react';
import { Placeholder } from '../../components/page.tsx';
import { operatorTexts } from '../../messages/operator.ts';
import { query } from '../../trpc.ts';
import { Found } from './found.tsx';
import { Refusal, VIEW } from './operators.tsx';

const words = operatorTexts.search;

/** Searches on submit only, because each search is an audit event. */
export function Search({ sought }: { readonly sought: string | undefined }) {
  const navigate = useNavigate();
  const hint = useId();
  const [text, setText] = useState(sought ?? '');
  // The URL contains the query, so that going back shows it again.
  const [shown, setShown] = useState(sought);
  if (shown !== sought) {
    setShown(sought);
    setText(sought ?? '');
  }
  const found = useQuery({
    ...query('operator.find', { query: sought ?? '' }),
    ...VIEW,
    enabled: sought !== undefined,
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const next = text.trim();
    if (next === sought) void found.refetch();
    else void navigate({ to: '/operator', search: next === '' ? {} : { find: next } });
  };
  return (
    <>
      <form role="search" onSubmit={submit} className="operator-search">
        <TextInput
          type="search"
          label={words.label}
          aria-describedby={hint}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={255}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <Button type="submit" size="md" loading={found.isFetching}>
          {words.submit}
        </Button>
        <Text id={hint} size="sm" c="dimmed">
          {words.hint}
        </Text>
      </form>
      {found.error !== null && <Refusal error={found.error} retry={() => void found.refetch()} />}
      {found.isLoading && <Placeholder rows={2} height={72} />}
      {sought !== undefined && found.data !== undefined && <Found sought={sought} found={found.data} />}
    </>
  );
}
