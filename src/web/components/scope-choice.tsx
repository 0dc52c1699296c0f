import { Checkbox, Stack, Text } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { scopeKindTexts, scopeTexts } from '../messages/oauth.ts';
import { isReadScope } from '../scopes.ts';
import type { Scope } from '../trpc.ts';

type ScopeChoiceProps = {
  readonly label: ReactNode;
  readonly description?: ReactNode;
  /** Buttons that select several scopes at once. */
  readonly presets?: ReactNode;
  readonly scopes: readonly Scope[];
  readonly ticked: readonly Scope[];
  readonly onChange: (ticked: Scope[]) => void;
  /** Scopes that are disabled and shown as not selected. */
  readonly isExcluded?: (scope: Scope) => boolean;
  /** Whether to show the names that the API uses. */
  readonly withNames?: boolean;
};

/** A checkbox for each scope of an application or a key, those that only read first. */
export const ScopeChoice = ({
  label,
  description,
  presets,
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
    {presets}
    {(['read', 'change'] as const).map((kind) => (
      <ScopesOfKind key={kind} title={scopeKindTexts[kind]}>
        {scopes
          .filter((scope) => isReadScope(scope) === (kind === 'read'))
          .map((scope) => (
            <Checkbox
              key={scope}
              value={scope}
              label={scopeTexts[scope]}
              description={withNames && scope}
              disabled={isExcluded(scope)}
            />
          ))}
      </ScopesOfKind>
    ))}
  </Checkbox.Group>
);

function ScopesOfKind({ title, children }: { readonly title: string; readonly children: readonly ReactNode[] }) {
  const id = useId();
  if (children.length === 0) return null;
  return (
    <Stack gap="sm" mt="sm" role="group" aria-labelledby={id}>
      <Text id={id} size="sm" fw={600}>
        {title}
      </Text>
      {children}
    </Stack>
  );
}
