/** An operation as metrics and traces call it: a word of a list that is fixed. A batch can be made of any of them. */
export const operationLabel = (operation: string | null): string | null =>
  operation?.includes(',') ? 'batch' : operation;
