import { Button, EmptyState, Group, Paper, Table, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useDeferredValue, useMemo, useState, type ReactNode } from 'react';
import { People } from '../../../components/icons.tsx';
import { membersTexts as words } from '../../../messages/members.ts';
import { finder, type Member } from './member.ts';

/** The number of rows shown at once; thousands would make the page slow. */
const STEP = 50;

type MemberTableProps = {
  readonly members: readonly Member[];
  readonly row: (member: Member) => ReactNode;
};

export function MemberTable({ members, row }: MemberTableProps) {
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState(STEP);
  const find = useMemo(() => finder(members), [members]);
  const sought = useDeferredValue(search.trim());
  const found = find(sought);
  const rest = found.length - shown;

  const look = (text: string) => {
    setSearch(text);
    setShown(STEP);
  };
  return (
    <Paper withBorder radius="lg" className="members">
      <div className="members-bar">
        <TextInput
          type="search"
          size="sm"
          aria-label={words.search}
          placeholder={words.search}
          autoComplete="off"
          spellCheck={false}
          value={search}
          onChange={({ currentTarget }) => look(currentTarget.value)}
          className="members-search"
        />
        <Text size="sm" c="dimmed" role="status">
          {sought === '' ? words.count(members.length) : words.found(found.length, members.length)}
        </Text>
      </div>
      {found.length === 0 ? (
        <div className="members-none">
          <EmptyState
            variant="light"
            icon={<People />}
            title={words.noneFoundTitle}
            description={words.noneFound(sought)}
          >
            <EmptyState.Actions>
              <Button variant="default" onClick={() => look('')}>
                {words.clearSearch}
              </Button>
            </EmptyState.Actions>
          </EmptyState>
        </div>
      ) : (
        <Table role="table" verticalSpacing="sm" horizontalSpacing="lg" className="members-table">
          <Head />
          <Table.Tbody role="rowgroup">{found.slice(0, shown).map(row)}</Table.Tbody>
        </Table>
      )}
      {rest > 0 && (
        <Group justify="center" className="members-more">
          <Button variant="default" onClick={() => setShown(shown + STEP)}>
            {words.more(Math.min(rest, STEP))}
          </Button>
        </Group>
      )}
    </Paper>
  );
}

const Head = () => (
  <Table.Thead role="rowgroup">
    <Table.Tr role="row">
      {[words.member, words.role, words.state, words.joined].map((title) => (
        <Table.Th key={title} role="columnheader" scope="col">
          {title}
        </Table.Th>
      ))}
      <Table.Th role="columnheader" scope="col">
        <VisuallyHidden>{words.actions}</VisuallyHidden>
      </Table.Th>
    </Table.Tr>
  </Table.Thead>
);
