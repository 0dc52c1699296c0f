import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { tableTexts as words } from '../../messages/table.ts';
import { visibleColumns, type Column } from './column.ts';

type ColumnsChoiceProps<Row> = {
  readonly columns: readonly Column<Row>[];
  readonly hidden: ReadonlySet<string>;
  readonly onChange: (hide: string | undefined) => void;
};

/** Chooses the columns to show. */
export const ColumnsChoice = <Row,>({ columns, hidden, onChange }: ColumnsChoiceProps<Row>) => (
  <Popover position="bottom-end" withinPortal={false} trapFocus transitionProps={{ duration: 80 }}>
    <Popover.Target>
      <Button variant="default" size="sm">
        {words.columns}
      </Button>
    </Popover.Target>
    <Popover.Dropdown aria-label={words.columnsTitle}>
      <Stack gap="sm">
        {visibleColumns(columns, new Set())
          .slice(1)
          .map(({ id, title }) => (
            <Checkbox
              key={id}
              label={title}
              checked={!hidden.has(id)}
              onChange={({ currentTarget: { checked } }) => {
                const next = columns.filter((column) => (column.id === id ? !checked : hidden.has(column.id)));
                onChange(next.length === 0 ? undefined : next.map((column) => column.id).join(','));
              }}
            />
          ))}
      </Stack>
    </Popover.Dropdown>
  </Popover>
);
