import { Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Confirmation } from '../../components/confirmation.tsx';
import { ButtonLink } from '../../components/links.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Section } from '../../components/section.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { me } from '../../session.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { getAccountName } from './account-name.ts';
import { EditAccount } from './edit-account.tsx';
import { SendLink } from './send-link.tsx';
import { useKept } from '../../kept.ts';

const words = areaTexts.accounts;

type Props = { readonly account: Outputs['operator']['account']; readonly reread: () => Promise<unknown> };

/** What an operator can do with an account, except to disable it. */
export function AccountActions({ account, reread }: Props) {
  const { id, email, disabledAt } = account;
  const { data: person } = useQuery(me());
  const navigate = useNavigate();
  const notify = useNotice();
  const [dialog, setDialog] = useKept<'edit' | 'link' | 'end' | 'delete' | undefined>('dialog', undefined);
  const close = () => setDialog(undefined);
  const name = getAccountName(account);
  const isOwn = person?.id === id;
  return (
    <Section title={words.actions} explanation={isOwn ? words.actionsHint : areaTexts.teams.actionsHint}>
      <Group gap="sm">
        <ButtonLink
          to="/operator/accounts/$accountId/keys"
          params={{ accountId: id }}
          variant="default"
          preload={false}
        >
          {words.keys}
        </ButtonLink>
        <ButtonLink to="/operator/audit" search={{ accountId: id }} variant="default" preload={false}>
          {words.audit}
        </ButtonLink>
      </Group>
      {isOwn ? (
        <Text size="sm" c="dimmed">
          {words.own}
        </Text>
      ) : (
        <Group gap="sm">
          <Button variant="default" onClick={() => setDialog('edit')}>
            {words.edit}
          </Button>
          {email !== null && disabledAt === null && (
            <Button variant="default" onClick={() => setDialog('link')}>
              {words.link}
            </Button>
          )}
          <Button variant="default" onClick={() => setDialog('end')}>
            {words.endSessions}
          </Button>
          <Button variant="outline" color="red" onClick={() => setDialog('delete')}>
            {words.remove}
          </Button>
        </Group>
      )}
      {dialog === 'edit' && <EditAccount account={account} reread={reread} onClose={close} />}
      {dialog === 'link' && <SendLink account={account} onClose={close} />}
      {dialog === 'end' && (
        <Confirmation
          title={words.endTitle(name)}
          explanation={words.endExplanation}
          submit={words.endSubmit}
          call={async () => {
            const { ended } = await trpc.operator.endSessions.mutate({ accountId: id });
            notify(words.ended(ended));
            await reread();
          }}
          onSuccess={close}
          onError={() => void reread()}
          onClose={close}
        />
      )}
      {dialog === 'delete' && (
        <Confirmation
          title={words.removeTitle(name)}
          explanation={words.removeExplanation}
          submit={words.removeSubmit}
          call={() => trpc.operator.deleteAccount.mutate({ accountId: id })}
          onSuccess={() => {
            notify(words.removed(name));
            void navigate({ to: '/operator/accounts', replace: true });
          }}
          onError={() => void reread()}
          onClose={close}
        />
      )}
    </Section>
  );
}
