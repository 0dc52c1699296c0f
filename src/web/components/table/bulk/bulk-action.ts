import type { ReactNode } from 'react';

/** What the dialog of an action shows of its rows. */
export type BulkDetails<Row> = {
  readonly rows: readonly Row[];
  readonly chosen: string;
  readonly onChoose: (value: string) => void;
  /** Called once the details are read: the action waits for them. */
  readonly onReady: () => void;
};

/** An action on several rows: one call for each, with one outcome. */
export type BulkAction<Row> = {
  readonly id: string;
  readonly label: string;
  readonly color?: 'red';
  readonly title: (count: number) => string;
  readonly explanation: string;
  /** Whether the user can take the action on a row. Others are named and left alone. */
  readonly applies: (row: Row) => boolean;
  /** A value to choose first, such as a role. */
  readonly choice?: {
    readonly label: string;
    readonly options: readonly { readonly value: string; readonly label: string }[];
  };
  /** What else the action does, read when its dialog opens. It can have a value to choose. */
  readonly details?: (props: BulkDetails<Row>) => ReactNode;
  readonly call: (row: Row, chosen: string) => Promise<unknown>;
};

/** The bound of one action. With the limit of 300 requests a minute it takes at most two minutes. */
export const BULK_MAX = 500;
