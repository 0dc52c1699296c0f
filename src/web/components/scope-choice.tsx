import { Checkbox, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { scopeTexts } from '../messages/oauth.ts';
import type { Scope } from '../trpc.ts';

type ScopeChoiceProps = {
  readonly label: ReactNode;
  readonly description?: ReactNode;
  readonly scopes: readonly Scope[];
  readonly ticked: readonly Scope[];
  readonly onChange: (ticked: Scope[]) => void;
  /** Scopes that are disabled and shown as not selected. */
  readonly isExcluded?: (scope: Scope) => boolean;
  /** Whether to show the names that the API uses. */
  readonly withNames?: boolean;
};

/** A checkbox for each scope of an application or a key. */
export const ScopeChoice = ({
  label,
  description,
  scopes,
  ticked,
  onChange,
  isExcluded = () => false,
  withNames = false,
}: ScopeChoiceProps) => (
  <Checkbox.Group
    label={label}
    description={description}
    descriptionProps={{ size: 'sm' }}
    value={ticked.filter((scope) => !isExcluded(scope))}
    onChange={(next) =>
      onChange(scopes.filter((scope) => (isExcluded(scope) ? ticked.includes(scope) : next.includes(scope))))
    }
  >
    <Stack gap="sm" mt="sm">
      {scopes.map((scope) => (
        <Checkbox
          key={scope}
          value={scope}
          label={scopeTexts[scope]}
          description={withNames && scope}
          disabled={isExcluded(scope)}
        />
      ))}
    </Stack>
  </Checkbox.Group>
);
