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
  readonly call: (row: Row, chosen: string) => Promise<unknown>;
};

/** The bound of one action. With the limit of 300 requests a minute it takes at most two minutes. */
export const BULK_MAX = 500;
