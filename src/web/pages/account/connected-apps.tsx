import { Menu, Text } from '@mantine/core';
import { RowMenu } from '../../components/row-menu.tsx';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Confirmation } from '../../components/confirmation.tsx';
import { useDates } from '../../components/dates.ts';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { App } from '../../components/icons.tsx';
import { TextLink } from '../../components/links.tsx';
import { useNotice } from '../../components/notices.tsx';
import { Placeholder } from '../../components/page.tsx';
import { Section } from '../../components/section.tsx';
import { consentTexts, connectedAppsTexts as words, scopeTexts } from '../../messages/oauth.ts';
import { toFailure, query, trpc, type Outputs } from '../../trpc.ts';
import { AccessDialog } from './access-dialog.tsx';
import { SEPARATOR } from '../../messages/language.ts';
import { Name } from '../../components/name.tsx';

type Grant = Outputs['grants']['list'][number];

export function ConnectedApps() {
  const grants = useQuery(query('grants.list'));
  return (
    <Section anchor="apps" title={words.title} explanation={words.explanation}>
      {grants.error !== null && <FailureAlert failure={toFailure(grants.error)} retry={() => void grants.refetch()} />}
      {grants.isPending && <Placeholder rows={1} />}
      {grants.data?.length === 0 && <Text c="dimmed">{words.none}</Text>}
      {grants.data !== undefined && grants.data.length > 0 && (
        <ul className="rows">
          {grants.data.map((grant) => (
            <GrantRow key={grant.id} grant={grant} />
          ))}
        </ul>
      )}
      <Text size="sm" c="dimmed">
        {words.toDeveloper} <TextLink to="/developer">{words.developerLink}</TextLink>
      </Text>
    </Section>
  );
}

function GrantRow({ grant }: { readonly grant: Grant }) {
  const { client, team, scopes, openidScopes, createdAt, lastUsedAt, expiresAt } = grant;
  const { day } = useDates();
  const queries = useQueryClient();
  const notify = useNotice();
  const [dialog, setDialog] = useState<'change' | 'revoke'>();
  const close = () => setDialog(undefined);
  return (
    <li className="row row-top">
      <span className="row-icon">
        <App />
      </span>
      <div className="row-text">
        <Text fw={600} className="wrap">
          <Name>{client.name}</Name>
        </Text>
        <Text size="sm">{team === null ? words.personal : words.team(team.name)}</Text>
        <ul className="facts" aria-label={words.scopes(client.name)}>
          {openidScopes.map((scope) => (
            <li key={scope}>{consentTexts.openid[scope]}</li>
          ))}
          {scopes.map((scope) => (
            <li key={scope}>{scopeTexts[scope]}</li>
          ))}
        </ul>
        <Text size="sm" c="dimmed">
          {words.created(day(createdAt))}
          {SEPARATOR}
          {lastUsedAt === null ? words.unused : words.used(day(lastUsedAt))}
          {SEPARATOR}
          {words.expires(day(expiresAt))}
        </Text>
      </div>
      <RowMenu name={client.name} id={grant.id}>
        {scopes.length > 0 && (
          <Menu.Item onClick={() => setDialog('change')} aria-label={words.changeOf(client.name)}>
            {words.change}
          </Menu.Item>
        )}
        <Menu.Item className="data-danger" onClick={() => setDialog('revoke')} aria-label={words.revokeOf(client.name)}>
          {words.revoke}
        </Menu.Item>
      </RowMenu>
      {dialog === 'change' && <AccessDialog grant={grant} onClose={close} />}
      {dialog === 'revoke' && (
        <Confirmation
          title={words.revokeTitle}
          explanation={words.revokeExplanation(client.name)}
          submit={words.revoke}
          call={() => trpc.grants.revoke.mutate({ grantId: grant.id })}
          onSuccess={() => {
            close();
            notify(words.revoked);
            void queries.invalidateQueries(query('grants.list'));
          }}
          onClose={close}
        />
      )}
    </li>
  );
}
