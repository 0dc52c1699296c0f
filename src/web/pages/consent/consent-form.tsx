import { Button, Group, List, Stack, Text } from '@mantine/core';
import { useId } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { ScopeChoice } from '../../components/scope-choice.tsx';
import { isAccountOnly } from '../../scopes.ts';
import { chooseText } from '../../../messages/localized.ts';
import { language } from '../../messages/language.ts';
import { consentTexts as words } from '../../messages/oauth.ts';
import type { Failure, Outputs, Scope } from '../../trpc.ts';
import { AudienceChoice, type Audience } from './audience-choice.tsx';
import { useKept } from '../../kept.ts';
import { Name } from '../../components/name.tsx';

type Authorization = Outputs['authorizations']['read'];

/** The access that the user grants. `teamId` null is the whole account. */
export type Approval = {
  readonly accountId: string;
  readonly teamId: string | null;
  readonly scopes: Scope[];
  /** What the page shows of the product. */
  readonly permissions: string[];
};

/** What the application may do in the operator's product, which the operator chose. */
function ProductPermissions({ permissions }: Pick<Authorization, 'permissions'>) {
  if (permissions.length === 0) return null;
  return (
    <div>
      <Text size="sm">{words.product}</Text>
      <ul>
        {permissions.map(({ name, title }) => (
          <li key={name}>{chooseText(title, language)}</li>
        ))}
      </ul>
    </div>
  );
}

type ConsentFormProps = {
  readonly authorization: Authorization;
  readonly failure: Failure | undefined;
  /** The decision that is being sent. */
  readonly deciding: 'approve' | 'deny' | undefined;
  readonly onDecide: (approval: Approval | null) => void;
};

export function ConsentForm({ authorization, failure, deciding, onDecide }: ConsentFormProps) {
  const { accessDays, account, client, openidScopes, preselectedScopes, scopes, teams } = authorization;
  const isForSignIn = openidScopes.length > 0;
  const [chosen, setAudience] = useKept<Audience | undefined>('audience', undefined);
  // Nothing of the API is asked for, so there is nothing to choose.
  const audience: Audience | undefined = scopes.length === 0 ? { kind: 'account' } : chosen;
  const [ticked, setTicked] = useKept<readonly Scope[]>('scopes', preselectedScopes);
  const reasonId = useId();

  const isExcluded = (scope: Scope) => audience !== undefined && audience.kind === 'team' && isAccountOnly(scope);
  const given = ticked.filter((scope) => !isExcluded(scope));
  // Deselects a team that the account has left.
  const teamId = audience?.kind === 'team' ? teams.find((team) => team.id === audience.teamId)?.id : null;
  const reason = reasonAgainst();

  function reasonAgainst(): string | undefined {
    if (audience === undefined) return words.chooseAudience;
    if (teamId === undefined) return words.chooseTeam;
    if (given.length > 0 || isForSignIn) return undefined;
    return scopes.every(isExcluded) ? words.noTeamScopes : words.noScopes;
  }

  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (reason !== undefined || teamId === undefined || deciding !== undefined) return;
        const permissions = authorization.permissions.map(({ name }) => name);
        onDecide({ accountId: account.id, teamId, scopes: given, permissions });
      }}
    >
      <Stack gap="lg">
        {isForSignIn && (
          <div>
            <Text size="sm" fw={500}>
              {words.learns}
            </Text>
            <List size="sm" mt="xs">
              {openidScopes.map((scope) => (
                <List.Item key={scope}>{words.openid[scope]}</List.Item>
              ))}
            </List>
          </div>
        )}
        {scopes.length > 0 && (
          <>
            <AudienceChoice teams={teams} audience={audience} onChange={setAudience} />
            <ScopeChoice
              label={words.scopes}
              // Always rendered, so that screen readers announce its changes.
              description={<span role="status">{scopes.some(isExcluded) && words.accountOnly}</span>}
              scopes={scopes}
              ticked={ticked}
              onChange={setTicked}
              isExcluded={isExcluded}
            />
          </>
        )}
        <ProductPermissions permissions={authorization.permissions} />
        <div className="consent-end">
          <Text size="sm">{words.lasts(accessDays)}</Text>
          <Text size="sm">
            {words.sentTo}{' '}
            <b className="wrap">
              <Name>{client.redirectHost}</Name>
            </b>
          </Text>
          {failure !== undefined && <FailureAlert failure={failure} />}
          <Group gap="sm" className="consent-decision">
            <Button
              variant="default"
              size="md"
              loading={deciding === 'deny'}
              disabled={deciding === 'approve'}
              onClick={() => onDecide(null)}
            >
              {words.deny}
            </Button>
            <Button
              type="submit"
              size="md"
              loading={deciding === 'approve'}
              disabled={reason !== undefined || deciding === 'deny'}
              aria-describedby={reasonId}
            >
              {words.approve}
            </Button>
          </Group>
          <Text size="sm" c="dimmed" id={reasonId} role="status" className="consent-reason">
            {reason}
          </Text>
        </div>
      </Stack>
    </form>
  );
}
