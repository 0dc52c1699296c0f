import { Menu, Text } from '@mantine/core';
import { RowMenu } from '../../components/row-menu.tsx';
import { useQueryClient } from '@tanstack/react-query';
import { Confirmation } from '../../components/confirmation.tsx';
import { Copyable } from '../../components/copyable.tsx';
import { useDates } from '../../components/dates.ts';
import { useNotice } from '../../components/notices.tsx';
import { developerTexts as words, type ClientKind } from '../../messages/oauth.ts';
import { query, trpc, type Outputs } from '../../trpc.ts';
import { EditClient } from './edit-client.tsx';
import { RotateSecret } from './rotate-secret.tsx';
import { SEPARATOR } from '../../messages/language.ts';
import { useKept } from '../../kept.ts';
import { Name } from '../../components/name.tsx';

type Client = Outputs['oauthClients']['list'][number];

const getClientKind = ({ isConfidential, isNative }: Client): ClientKind =>
  isConfidential ? 'server' : isNative ? 'device' : 'browser';

export function ClientRow({ client }: { readonly client: Client }) {
  const { id, name, redirectUris, secrets } = client;
  const { day } = useDates();
  const queries = useQueryClient();
  const notify = useNotice();
  const [dialog, setDialog] = useKept<'edit' | 'rotate' | 'delete' | undefined>(`dialog of ${id}`, undefined);
  const close = () => setDialog(undefined);
  return (
    <li className="row row-high">
      <div className="row-head">
        <div className="row-text">
          <Text fw={600} component="h2" className="wrap">
            <Name>{name}</Name>
          </Text>
          <Text size="sm" c="dimmed">
            {words.kinds[getClientKind(client)]}
            {SEPARATOR}
            {words.created(day(client.createdAt))}
          </Text>
        </div>
        <RowMenu name={name} id={id}>
          <Menu.Item onClick={() => setDialog('edit')} aria-label={words.editOf(name)}>
            {words.edit}
          </Menu.Item>
          {client.isConfidential && (
            <Menu.Item onClick={() => setDialog('rotate')} aria-label={words.rotateOf(name)}>
              {words.rotate}
            </Menu.Item>
          )}
          <Menu.Item className="data-danger" onClick={() => setDialog('delete')} aria-label={words.deleteOf(name)}>
            {words.delete}
          </Menu.Item>
        </RowMenu>
      </div>
      <dl className="values">
        <div>
          <dt>{words.clientId}</dt>
          <dd>
            <Copyable label={words.clientId} value={id} />
          </dd>
        </div>
        <div>
          <dt>{words.redirectUris}</dt>
          {redirectUris.map((uri) => (
            <dd key={uri}>
              <Name>{uri}</Name>
            </dd>
          ))}
        </div>
        {secrets.length > 0 && (
          <div>
            <dt>{words.secrets}</dt>
            {secrets.map((secret) => (
              <Secret key={`${secret.last4} ${secret.createdAt}`} secret={secret} />
            ))}
          </div>
        )}
      </dl>
      {dialog === 'edit' && <EditClient client={client} onClose={close} />}
      {dialog === 'rotate' && <RotateSecret client={client} onClose={close} />}
      {dialog === 'delete' && (
        <Confirmation
          title={words.deleteTitle}
          explanation={words.deleteExplanation(name)}
          submit={words.delete}
          call={() => trpc.oauthClients.delete.mutate({ clientId: id })}
          onSuccess={() => {
            close();
            notify(words.deleted);
            void queries.invalidateQueries(query('oauthClients.list'));
          }}
          onClose={close}
        />
      )}
    </li>
  );
}

function Secret({ secret: { last4, createdAt, expiresAt } }: { readonly secret: Client['secrets'][number] }) {
  const { day, minute } = useDates();
  return (
    <dd>
      {words.secretSince({ last4, date: day(createdAt) })}
      {SEPARATOR}
      {expiresAt === null ? words.secretCurrent : words.secretUntil(minute(expiresAt))}
    </dd>
  );
}
