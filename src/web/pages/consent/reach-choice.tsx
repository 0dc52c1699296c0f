import { NativeSelect, Radio, Stack, Text } from '@mantine/core';
import { consentTexts as words } from '../../messages/oauth.ts';
import type { Outputs } from '../../trpc.ts';

/** What an application gets access to. `teamId` is '' until a team is chosen. */
export type Reach = { readonly kind: 'account' } | { readonly kind: 'team'; readonly teamId: string };

type ReachChoiceProps = {
  readonly teams: Outputs['authorizations']['read']['teams'];
  readonly reach: Reach | undefined;
  readonly onChange: (reach: Reach) => void;
};

/** Chooses the whole account or one team. Nothing is preselected, so that the choice is deliberate. */
export function ReachChoice({ teams, reach, onChange }: ReachChoiceProps) {
  const [only, ...others] = teams;
  const single = others.length === 0 ? only : undefined;
  return (
    <Stack gap="sm">
      <Radio.Group
        label={words.audience}
        required
        withAsterisk={false}
        value={reach?.kind ?? null}
        onChange={(kind) => onChange(kind === 'account' ? { kind } : { kind: 'team', teamId: single?.id ?? '' })}
      >
        <Stack gap="sm" mt="sm">
          <Radio value="account" label={words.personal} description={words.personalHint} />
          {only !== undefined && (
            <Radio
              value="team"
              label={single === undefined ? words.oneTeam : words.team(single.name)}
              description={single === undefined ? words.teamsHint : words.teamHint(single.roleName)}
            />
          )}
        </Stack>
      </Radio.Group>
      {reach?.kind === 'team' && single === undefined && (
        <NativeSelect
          className="consent-team"
          label={words.whichTeam}
          value={reach.teamId}
          onChange={(event) => onChange({ kind: 'team', teamId: event.currentTarget.value })}
          data={[
            { value: '', label: words.choose, disabled: true },
            ...teams.map(({ id, name, roleName }) => ({ value: id, label: words.teamChoice(name, roleName) })),
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
