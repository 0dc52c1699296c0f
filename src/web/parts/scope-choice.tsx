import { Checkbox, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { scopeTexts } from '../texts/oauth.ts';
import type { Scope } from '../trpc.ts';

type ScopeChoiceProps = {
  readonly label: ReactNode;
  readonly description?: ReactNode;
  readonly scopes: readonly Scope[];
  readonly ticked: readonly Scope[];
  readonly onChange: (ticked: Scope[]) => void;
  /** What cannot be ticked at the moment, and shows no tick. */
  readonly isExcluded?: (scope: Scope) => boolean;
};

/** A checkbox for each thing that an application may do. */
export const ScopeChoice = ({
  label,
  description,
  scopes,
  ticked,
  onChange,
  isExcluded = () => false,
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
        <Checkbox key={scope} value={scope} label={scopeTexts[scope]} disabled={isExcluded(scope)} />
      ))}
    </Stack>
  </Checkbox.Group>
);
