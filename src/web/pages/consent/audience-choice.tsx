import { NativeSelect, Radio, Stack, Text } from '@mantine/core';
import { consentTexts as words } from '../../messages/oauth.ts';
import type { Outputs } from '../../trpc.ts';
import { getRoleLabel } from '../../components/role-label.ts';

/** What an application gets access to. `teamId` is '' until a team is chosen. */
export type Audience = { readonly kind: 'account' } | { readonly kind: 'team'; readonly teamId: string };

type AudienceChoiceProps = {
  readonly teams: Outputs['authorizations']['read']['teams'];
  readonly audience: Audience | undefined;
  readonly onChange: (audience: Audience) => void;
};

/** Chooses the whole account or one team. Nothing is preselected, so that the choice is deliberate. */
export function AudienceChoice({ teams, audience, onChange }: AudienceChoiceProps) {
  const [only, ...others] = teams;
  const single = others.length === 0 ? only : undefined;
  return (
    <Stack gap="sm">
      <Radio.Group
        label={words.audience}
        required
        withAsterisk={false}
        value={audience?.kind ?? null}
        onChange={(kind) => onChange(kind === 'account' ? { kind } : { kind: 'team', teamId: single?.id ?? '' })}
      >
        <Stack gap="sm" mt="sm">
          <Radio value="account" label={words.personal} description={words.personalHint} />
          {only !== undefined && (
            <Radio
              value="team"
              label={single === undefined ? words.oneTeam : words.team(single.name)}
              description={single === undefined ? words.teamsHint : words.teamHint(getRoleLabel(single.roleName))}
            />
          )}
        </Stack>
      </Radio.Group>
      {audience?.kind === 'team' && single === undefined && (
        <NativeSelect
          className="consent-team"
          label={words.whichTeam}
          value={audience.teamId}
          onChange={(event) => onChange({ kind: 'team', teamId: event.currentTarget.value })}
          data={[
            { value: '', label: words.choose, disabled: true },
            ...teams.map(({ id, name, roleName }) => ({
              value: id,
              label: words.teamChoice({ name, role: getRoleLabel(roleName) }),
            })),
          ]}
        />
      )}
      {only === undefined && (
        <Text size="sm" c="dimmed">
          {words.noTeams}
        </Text>
      )}
    </Stack>
  );
}
