import { Text } from '@mantine/core';
import { Confirmation } from '../../components/confirmation.tsx';
import { useNotice } from '../../components/notices.tsx';
import { operatorTexts } from '../../messages/operator.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { getAccountName } from './account-name.ts';

type Account = Outputs['operator']['account'];

const words = operatorTexts.access;

type DisablingProps = {
  readonly account: Account;
  readonly reread: () => Promise<unknown>;
  readonly onClose: () => void;
};

/** Asks for confirmation before an account is disabled, and lists what stops working. */
export function Disabling({ account, reread, onClose }: DisablingProps) {
  const notify = useNotice();
  return (
    <Confirmation
      title={words.disableTitle(getAccountName(account))}
      explanation={words.disableExplanation}
      submit={words.disableSubmit}
      call={async () => {
        await trpc.operator.disableAccount.mutate({ accountId: account.id });
        await reread();
      }}
      onSuccess={() => {
        onClose();
        notify(words.disabled(getAccountName(account)));
      }}
      onError={() => void reread()}
      onClose={onClose}
    >
      <ul className="facts">
        {stopping(account).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <Text size="sm" c="dimmed">
        {words.stays}
      </Text>
    </Confirmation>
  );
}

function stopping({ sessions, keys, grants }: Account): readonly string[] {
  const lines = [
    sessions > 0 && words.stops.sessions(sessions),
    keys > 0 && words.stops.keys(keys),
    grants > 0 && words.stops.grants(grants),
  ].filter((line) => line !== false);
  return lines.length > 0 ? lines : [words.stops.nothing];
}
