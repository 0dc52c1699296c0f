import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useDates } from '../../components/dates.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Section } from '../../components/section.tsx';
import { me } from '../../session.ts';
import { operatorTexts } from '../../messages/operator.ts';
import { toFailure, trpc, type Outputs } from '../../trpc.ts';
import { Disabling } from './disabling.tsx';
import { getAccountName } from './account-name.ts';
import { useSubmission } from '../../components/submission.ts';

const words = operatorTexts.access;

type AccessProps = {
  readonly account: Outputs['operator']['account'];
  /** Called after every attempt, also a failed one, to show the current state. */
  readonly reread: () => Promise<unknown>;
};

/** Shows whether the account is enabled, with the button that changes it. */
export function Access({ account, reread }: AccessProps) {
  const { id, disabledAt } = account;
  const { day } = useDates();
  const { data: person } = useQuery(me());
  const notify = useNotice();
  const button = useRef<HTMLButtonElement>(null);
  const [asking, setAsking] = useState(false);
  const enabling = useSubmission({
    isRepeatable: true,
    mutationFn: () => trpc.operator.enableAccount.mutate({ accountId: id }),
    onSuccess: () => notify(words.enabled(getAccountName(account))),
    onSettled: () => reread(),
  });
  const isDisabled = disabledAt !== null;
  const isOwn = person?.id === id;
  return (
    <Section
      title={words.title}
      explanation={isDisabled ? `${words.disabledOn(day(disabledAt))} ${words.disabledHint}` : words.allowed}
    >
      {enabling.error !== null && <FailureAlert failure={toFailure(enabling.error)} />}
      {isOwn ? (
        <Text size="sm" c="dimmed">
          {words.own}
        </Text>
      ) : (
        <div>
          <Button
            ref={button}
            variant={isDisabled ? 'filled' : 'outline'}
            color={isDisabled ? 'brand' : 'red'}
            loading={enabling.isPending}
            onClick={() => (isDisabled ? enabling.submit() : setAsking(true))}
          >
            {isDisabled ? words.enable : words.disable}
          </Button>
        </div>
      )}
      {asking && (
        <Disabling
          account={account}
          reread={reread}
          onClose={() => {
            setAsking(false);
            requestAnimationFrame(() => button.current?.focus());
          }}
        />
      )}
    </Section>
  );
}
