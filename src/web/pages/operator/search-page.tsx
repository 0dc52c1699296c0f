import { Button } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { FailureAlert } from '../../components/failure-alert.tsx';
import { Page } from '../../components/page.tsx';
import { useSubmission } from '../../components/submission.ts';
import type { ServiceOrder } from '../../components/table/table-state.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { tableTexts } from '../../messages/table.ts';
import { toFailure } from '../../trpc.ts';
import { ListSearch, type ListFilter, type Sought } from './list-search.tsx';
import { ListTable, type TableProps } from './list.tsx';
import { useKept } from '../../kept.ts';

type Search = Sought & { readonly cursor?: string; readonly sort?: string; readonly hide?: string };

type SearchPageProps<Listed, Item> = Omit<TableProps<Item>, 'rowId' | 'tools' | 'hasOwnExport'> & {
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
  readonly order: ServiceOrder;
  /** Saves the whole list, as it is searched and sorted. */
  readonly download: () => Promise<void>;
  /** The dialog that creates an item. */
  readonly create: (onClose: () => void) => ReactNode;
};

/** A list that is searched, filtered, sorted and read in pages, all of which is in the URL. */
export function SearchPage<Listed extends { readonly nextCursor: string | null }, Item extends { readonly id: string }>(
  props: SearchPageProps<Listed, Item>,
) {
  const { to, words, filter, search, page, create, download, ...table } = props;
  const { cursor, sort, hide, ...sought } = search;
  const navigate = useNavigate();
  const [creating, setCreating] = useKept('creating', false);
  const next = page.data?.nextCursor;
  const save = useSubmission({ isRepeatable: true, mutationFn: download });
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
        onSearch={(next) =>
          void navigate({
            to,
            search: { ...next, ...(sort !== undefined && { sort }), ...(hide !== undefined && { hide }) },
          })
        }
      />
      {save.error !== null && <FailureAlert failure={toFailure(save.error)} onClose={save.reset} />}
      <ListTable
        {...table}
        label={words.title}
        page={page}
        rowId={rowId}
        empty={describeEmpty(sought.text, next)}
        cursor={cursor}
        next={next}
        isSearched
        hasOwnExport
        tools={
          <Button
            size="sm"
            variant="default"
            title={texts.exportHint}
            loading={save.isPending}
            onClick={() => save.submit()}
          >
            {tableTexts.csv}
          </Button>
        }
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

/** Returns the field that a list is searched by, which is the first one unless the URL has another. */
export function toField<By extends string>(fields: Readonly<Record<By, string>>, { by, text }: Sought): By | undefined {
  const names = Object.keys(fields) as By[]; // of a constant object
  return text === undefined ? undefined : (names.find((name) => name === by) ?? names[0]);
}

/** Returns the search of a list as its input: a text in one of the fields. */
export function toPrefix<By extends string>(
  fields: Readonly<Record<By, string>>,
  sought: Sought,
): Partial<Record<By, string>> {
  const field = toField(fields, sought);
  return field === undefined ? {} : ({ [field]: sought.text } as Partial<Record<By, string>>);
}
