import { Button, Group, Text } from '@mantine/core';
import { ScopeChoice } from '../../components/scope-choice.tsx';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import type { Scope } from '../../trpc.ts';
import { grantableScopes, readOnlyScopes, type TeamId } from './keys.ts';

type ScopesFieldProps = {
  readonly teamId: TeamId | null;
  readonly ticked: readonly Scope[];
  readonly onChange: (ticked: Scope[]) => void;
  /** What is said while no scope is selected. */
  readonly noScopes: string;
};

/** Chooses the scopes of a key. */
export const ScopesField = ({ teamId, ticked, onChange, noScopes }: ScopesFieldProps) => (
  <div>
    <ScopeChoice
      label={words.scopes}
      description={teamId ? words.teamScopesHint : words.scopesHint}
      presets={
        <Group gap="xs" mt="xs" role="group" aria-label={words.presets}>
          <Button size="compact-sm" variant="default" onClick={() => onChange(readOnlyScopes(teamId))}>
            {words.readOnly}
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => onChange(grantableScopes(teamId))}>
            {words.fullAccess}
          </Button>
        </Group>
      }
      scopes={grantableScopes(teamId)}
      ticked={ticked}
      onChange={onChange}
      withNames
    />
    <Text size="sm" c="dimmed" mt="sm" role="status" className="key-reason">
      {ticked.length === 0 && noScopes}
    </Text>
  </div>
);
