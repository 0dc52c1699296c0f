import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { tableTexts as words } from '../../messages/table.ts';
import { chosenColumns, hiddenColumns, visibleColumns, type Column } from './column.ts';

type ColumnsChoiceProps<Row> = {
  readonly columns: readonly Column<Row>[];
  /** What the URL has. */
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (hide: string | undefined) => void;
};

/** Chooses the columns to show. */
export const ColumnsChoice = <Row,>({ columns, chosen, onChange }: ColumnsChoiceProps<Row>) => {
  const hidden = hiddenColumns(columns, chosen);
  return (
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
                  const next = new Set(hidden);
                  if (checked) next.delete(id);
                  else next.add(id);
                  onChange(chosenColumns(columns, next));
                }}
              />
            ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
};
