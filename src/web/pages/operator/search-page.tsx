import { Button } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { Page } from '../../components/page.tsx';
import { areaTexts } from '../../messages/operator-area.ts';
import { ListSearch, type ListFilter, type Sought } from './list-search.tsx';
import { ListTable, type TableProps } from './list.tsx';

type Search = Sought & { readonly cursor?: string };

type SearchPageProps<Listed, Item> = Omit<TableProps<Item>, 'rowId'> & {
  readonly to: '/operator/accounts' | '/operator/teams';
  readonly words: {
    readonly title: string;
    readonly explanation: string;
    readonly create: string;
    /** The fields that can be searched, by name. */
    readonly by: Readonly<Record<string, string>>;
  };
  readonly filter: ListFilter;
  readonly search: Search;
  readonly page: UseQueryResult<Listed>;
  readonly items: (page: Listed) => readonly Item[];
  /** The dialog that creates an item. */
  readonly create: (onClose: () => void) => ReactNode;
};

/** A list that is searched, filtered and read in pages, all of which is in the URL. */
export function SearchPage<
  Listed extends { readonly nextCursor: string | null },
  Item extends { readonly id: string },
>({ to, words, filter, search: { cursor, ...sought }, page, create, ...table }: SearchPageProps<Listed, Item>) {
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  const next = page.data?.nextCursor;
  return (
    <Page
      isWide
      title={words.title}
      explanation={words.explanation}
      action={<Button onClick={() => setCreating(true)}>{words.create}</Button>}
    >
      <ListSearch
        fields={words.by}
        filter={filter}
        sought={sought}
        onSearch={(search) => void navigate({ to, search })}
      />
      <ListTable
        {...table}
        label={words.title}
        page={page}
        rowId={rowId}
        empty={describeEmpty(sought.text, next)}
        cursor={cursor}
        next={next}
        isSearched
      />
      {creating && create(() => setCreating(false))}
    </Page>
  );
}

const rowId = ({ id }: { readonly id: string }): string => id;

const { list: texts } = areaTexts;

function describeEmpty(text: string | undefined, next: string | null | undefined) {
  if (next) return { title: texts.emptyTitle, description: texts.more };
  if (text === undefined) return { title: texts.emptyTitle, description: texts.empty };
  return { title: texts.noneTitle, description: texts.none(text) };
}

/** Returns the search of a list as its input: a text in one of the fields, by default the first. */
export function toPrefix<By extends string>(
  fields: Readonly<Record<By, string>>,
  { by, text }: Sought,
): Partial<Record<By, string>> {
  const names = Object.keys(fields) as By[]; // of a constant object
  const field = names.find((name) => name === by) ?? names[0];
  return text === undefined || field === undefined ? {} : ({ [field]: text } as Partial<Record<By, string>>);
}
