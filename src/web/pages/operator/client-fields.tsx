import { Checkbox, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type Dispatch, type SetStateAction } from 'react';
import { groupDeclared } from '../../components/permissions/groups.ts';
import { PermissionPicker } from '../../components/permissions/permission-picker.tsx';
import { useKept } from '../../kept.ts';
import { apiKeysTexts } from '../../messages/api-keys.ts';
import { texts } from '../../messages/console.ts';
import { consentTexts, scopeTexts } from '../../messages/oauth.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { permissionsQuery } from '../../page-queries.ts';
import type { Inputs, Scope } from '../../trpc.ts';
import { splitLines } from '../developer/client-fields.tsx';
import type { OperatorClient } from './client-columns.tsx';

const words = areaTexts.clients;
const SCOPES = Object.keys(scopeTexts) as Scope[]; // the keys of a record of all
type OpenIdScope = keyof typeof consentTexts.openid;
const OPENID_SCOPES = Object.keys(consentTexts.openid) as OpenIdScope[]; // likewise

/** What can be changed of a client: every field, so that one that the operator API gets does not compile without. */
type ClientSettings = Required<Omit<Inputs['operator']['updateClient'], 'clientId'>>;

/** The values of the text fields. */
export type ClientValues = {
  readonly name: string;
  readonly redirectUris: string;
  readonly homeUrl: string;
  readonly initiateLoginUri: string;
  readonly postLogoutRedirectUris: string;
  readonly backchannelLogoutUri: string;
  readonly sessionDays: string;
};

/** The text fields that hold a list. */
export const LISTS = ['redirectUris', 'postLogoutRedirectUris'] as const;

export const toValues = (client: OperatorClient | undefined): ClientValues => ({
  name: client?.name ?? '',
  redirectUris: client?.redirectUris.join('\n') ?? '',
  homeUrl: client?.homeUrl ?? '',
  initiateLoginUri: client?.initiateLoginUri ?? '',
  postLogoutRedirectUris: client?.postLogoutRedirectUris.join('\n') ?? '',
  backchannelLogoutUri: client?.backchannelLogoutUri ?? '',
  sessionDays: String(client?.sessionDays ?? ''),
});

/** What is no number is refused as 0 is. */
const toDays = (text: string): number | null => (text.trim() === '' ? null : Number(text) || 0);

/** What is ticked in the form of a client, as it survives the emailed link of a proof. */
export function useClientChoices(client: OperatorClient | undefined) {
  const nameOf = (what: string) => (client === undefined ? `new ${what}` : `${what} of ${client.id}`);
  const [scopes, setScopes] = useKept<readonly Scope[]>(
    nameOf('scopes'),
    client === undefined ? ['profile:read', 'teams:read'] : (client.scopes ?? []),
  );
  const [openidScopes, setOpenidScopes] = useKept<readonly OpenIdScope[]>(
    nameOf('openid scopes'),
    OPENID_SCOPES.filter((scope) => client?.openidScopes?.includes(scope)),
  );
  const [permissions, setPermissions] = useKept<readonly string[]>(nameOf('permissions'), client?.permissions ?? []);
  const [hasTokenLimit, setTokenLimit] = useKept(nameOf('token limit'), client?.hasTokenLimit ?? false);
  return {
    scopes,
    setScopes,
    openidScopes,
    setOpenidScopes,
    permissions,
    setPermissions,
    hasTokenLimit,
    setTokenLimit,
  };
}

type Choices = ReturnType<typeof useClientChoices>;

type Kind = { readonly isFirstParty: boolean; readonly isConfidential: boolean };

/**
 * Returns what the form says. A first-party client has scopes, and has all of OpenID Connect and of the product. Only that of a
 * server can be without a limit.
 */
export const toSettings = ({ isFirstParty, isConfidential }: Kind, values: ClientValues, choices: Choices) =>
  ({
    name: values.name,
    redirectUris: splitLines(values.redirectUris),
    homeUrl: values.homeUrl || null,
    initiateLoginUri: values.initiateLoginUri || null,
    postLogoutRedirectUris: splitLines(values.postLogoutRedirectUris),
    backchannelLogoutUri: (isFirstParty && values.backchannelLogoutUri) || null,
    sessionDays: isFirstParty ? toDays(values.sessionDays) : null,
    hasTokenLimit: isFirstParty && isConfidential ? choices.hasTokenLimit : undefined,
    scopes: isFirstParty ? [...choices.scopes] : undefined,
    openidScopes: isFirstParty || choices.openidScopes.length === 0 ? null : [...choices.openidScopes],
    permissions: isFirstParty ? undefined : [...choices.permissions],
  }) satisfies ClientSettings;

type FieldsProps = {
  readonly form: { readonly field: (name: keyof ClientValues) => object };
  readonly isFirstParty: boolean;
  readonly choices: Choices;
  /** Whether a token limit can be chosen. */
  readonly canLimit: boolean;
};

/** What a client can get: what the operator gives a first-party one, or what others can ask their users for. */
export const AccessFields = ({ isFirstParty, choices }: Omit<FieldsProps, 'form' | 'canLimit'>) =>
  isFirstParty ? (
    <ScopeChoice scopes={choices.scopes} onChange={choices.setScopes} />
  ) : (
    <>
      <OpenIdChoice scopes={choices.openidScopes} onChange={choices.setOpenidScopes} />
      <PermissionChoice ticked={choices.permissions} onChange={choices.setPermissions} />
    </>
  );

type ChoiceProps<Value> = {
  readonly scopes: readonly Value[];
  readonly onChange: (scopes: readonly Value[]) => void;
};

const ScopeChoice = ({ scopes, onChange }: ChoiceProps<Scope>) => (
  <>
    <Checkbox.Group
      label={apiKeysTexts.scopes}
      description={words.scopesHint}
      value={[...scopes]}
      onChange={(next) => onChange(SCOPES.filter((scope) => next.includes(scope)))}
    >
      <Stack gap="sm" mt="sm">
        {SCOPES.map((scope) => (
          <Checkbox key={scope} value={scope} label={scope} description={scopeTexts[scope]} />
        ))}
      </Stack>
    </Checkbox.Group>
    <Text size="sm" c="dimmed" role="status">
      {scopes.length === 0 && areaTexts.operatorKeys.noScopes}
    </Text>
  </>
);

/** The others need `openid`: they tick it, and are cleared with it. */
const OpenIdChoice = ({ scopes, onChange }: ChoiceProps<OpenIdScope>) => (
  <Checkbox.Group
    label={texts.optional(words.openidScopes)}
    description={words.openidScopesHint}
    value={[...scopes]}
    onChange={(next) => {
      const isCleared = scopes.includes('openid') && !next.includes('openid');
      const isNeeded = next.length > 0;
      onChange(OPENID_SCOPES.filter((scope) => !isCleared && isNeeded && (scope === 'openid' || next.includes(scope))));
    }}
  >
    <Stack gap="sm" mt="sm">
      {OPENID_SCOPES.map((scope) => (
        <Checkbox key={scope} value={scope} label={scope} description={consentTexts.openid[scope]} />
      ))}
    </Stack>
  </Checkbox.Group>
);

type PermissionChoiceProps = {
  readonly ticked: readonly string[];
  readonly onChange: Dispatch<SetStateAction<readonly string[]>>;
};

function PermissionChoice({ ticked, onChange }: PermissionChoiceProps) {
  const declared = useQuery(permissionsQuery());
  const [before] = useState(ticked);
  // Also what it asked for before, so that a deprecated one can be ticked again.
  const offered = (declared.data ?? []).filter(({ name, isDeprecated }) => !isDeprecated || before.includes(name));
  if (offered.length === 0) return null;
  return (
    <PermissionPicker
      label={texts.optional(areaTexts.permissions.title)}
      description={words.permissionsHint}
      groups={groupDeclared(offered)}
      ticked={ticked}
      onChange={onChange}
      refusalOf={() => undefined}
    />
  );
}

type UrlFieldProps = { readonly field: object; readonly label: string; readonly description: string };

const UrlField = ({ field, label, description }: UrlFieldProps) => (
  <TextInput {...field} label={texts.optional(label)} description={description} type="url" autoComplete="off" />
);

/** Where users go on in the application, and how the end of a session is told there. */
export const AddressFields = ({ form, isFirstParty, choices, canLimit }: FieldsProps) => (
  <>
    <UrlField field={form.field('homeUrl')} label={words.homeUrl} description={words.homeUrlHint} />
    <UrlField field={form.field('initiateLoginUri')} label={words.loginUrl} description={words.loginUrlHint} />
    <Textarea
      {...form.field('postLogoutRedirectUris')}
      label={texts.optional(words.logoutUrls)}
      description={words.logoutUrlsHint}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      rows={2}
    />
    {isFirstParty && (
      <>
        <UrlField
          field={form.field('backchannelLogoutUri')}
          label={words.backchannelUrl}
          description={words.backchannelUrlHint}
        />
        <TextInput
          {...form.field('sessionDays')}
          label={texts.optional(words.sessionDays)}
          description={words.sessionDaysHint}
          inputMode="numeric"
          autoComplete="off"
        />
      </>
    )}
    {canLimit && (
      <Checkbox
        checked={choices.hasTokenLimit}
        onChange={(event) => choices.setTokenLimit(event.currentTarget.checked)}
        label={words.tokenLimit}
        description={words.tokenLimitHint}
      />
    )}
  </>
);
