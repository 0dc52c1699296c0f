import { Code, NativeSelect, Text } from '@mantine/core';
import type { Dispatch, ReactNode, SetStateAction } from 'react';
import { SEPARATOR } from '../../messages/language.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import type { Outputs } from '../../trpc.ts';

const words = areaTexts.permissions;

type Change = Outputs['operator']['applyPermissions'];
type Removed = Change['removed'][number];

/** What happens to permissions that are removed, by their names. */
export type Decisions = Readonly<Record<string, 'drop' | { readonly replaceWith: string }>>;

/** Returns the permissions that are held, and for which neither the content nor the user has decided. */
export const findUndecided = (change: Change, decisions: Decisions): readonly Removed[] =>
  change.removed.filter((each) => needsDecision(each) && decisions[each.name] === undefined);

const needsDecision = ({ removal, roles, templates, keys, clients, grants }: Removed): boolean =>
  removal === null && roles + templates + keys + clients + grants > 0;

type CatalogueChangesProps = {
  readonly change: Change;
  /** The permissions that remain. */
  readonly names: readonly string[];
  readonly decisions: Decisions;
  readonly onDecide: Dispatch<SetStateAction<Decisions>>;
};

/** What a catalogue changes, and for how many; and what happens to permissions that are held and removed. */
export const CatalogueChanges = ({ change, names, decisions, onDecide }: CatalogueChangesProps) => (
  <ul className="rows">
    {change.added.map((name) => (
      <Row key={name} name={name} what={words.added} />
    ))}
    {change.changed.map((each) => (
      <Row key={each.name} name={each.name} what={`${words.changed(each.fields.join(SEPARATOR))} (${toHeld(each)})`} />
    ))}
    {change.removed.map((each) => (
      <Row key={each.name} name={each.name} what={`${words.removed} (${toHeld(each)})`}>
        {needsDecision(each) && (
          <NativeSelect
            mt="xs"
            label={words.decision(each.name)}
            value={toValue(decisions[each.name])}
            onChange={({ currentTarget: { value } }) =>
              onDecide((before) => {
                const others = Object.entries(before).filter(([name]) => name !== each.name);
                const chosen = value === 'drop' ? value : { replaceWith: value };
                return Object.fromEntries(value === '' ? others : [...others, [each.name, chosen]]);
              })
            }
            data={[
              { value: '', label: words.choose },
              { value: 'drop', label: words.drop },
              ...names.map((name) => ({ value: name, label: words.replace(name) })),
            ]}
          />
        )}
      </Row>
    ))}
  </ul>
);

const toHeld = ({ roles, keys, clients }: Pick<Removed, 'roles' | 'keys' | 'clients'>): string =>
  words.held({ roles, keys, clients });

const toValue = (decision: Decisions[string] | undefined): string =>
  decision === undefined ? '' : decision === 'drop' ? 'drop' : decision.replaceWith;

type RowProps = { readonly name: string; readonly what: string; readonly children?: ReactNode };

const Row = ({ name, what, children }: RowProps) => (
  <li className="row row-high">
    <Code className="wrap">{name}</Code>
    <Text size="sm">{what}</Text>
    {children}
  </li>
);
