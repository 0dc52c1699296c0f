import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useState, type SubmitEvent } from 'react';
import { areaTexts } from '../../messages/operator-area.ts';

const words = areaTexts.list;

export type Sought = { readonly by?: string; readonly text?: string; readonly show?: string };

export type ListFilter = {
  readonly label: string;
  /** What shows everything. */
  readonly all: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
};

type ListSearchProps = {
  /** The fields that can be searched, by name. */
  readonly fields: Readonly<Record<string, string>>;
  /** What can be shown instead of a search. */
  readonly filter: ListFilter;
  readonly sought: Sought;
  readonly onSearch: (sought: Sought) => void;
};

/** Searches a list by the beginning of one field, on submit only, because each search is an audit event. */
export function ListSearch({ fields, filter, sought, onSearch }: ListSearchProps) {
  const [first = ''] = Object.keys(fields);
  const [by, setBy] = useState(sought.by ?? first);
  const [text, setText] = useState(sought.text ?? '');
  // The URL has the search, so that going back shows it again.
  const [shown, setShown] = useState(sought);
  if (shown.by !== sought.by || shown.text !== sought.text) {
    setShown(sought);
    setBy(sought.by ?? first);
    setText(sought.text ?? '');
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const next = text.trim();
    onSearch(next === '' ? {} : { by, text: next });
  };
  return (
    <form role="search" onSubmit={submit} className="operator-filters">
      <NativeSelect
        label={filter.label}
        value={sought.show ?? ''}
        onChange={({ currentTarget: { value } }) => onSearch(value === '' ? {} : { show: value })}
        data={[{ value: '', label: filter.all }, ...filter.options]}
      />
      {sought.show === undefined && (
        <>
          <NativeSelect
            label={words.by}
            value={by}
            onChange={({ currentTarget }) => setBy(currentTarget.value)}
            data={Object.entries(fields).map(([value, label]) => ({ value, label }))}
          />
          <TextInput
            type="search"
            label={words.text}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={255}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
          />
          <Button type="submit">{words.submit}</Button>
        </>
      )}
      {sought.text !== undefined && (
        <Button variant="default" onClick={() => onSearch({})}>
          {words.clear}
        </Button>
      )}
    </form>
  );
}
