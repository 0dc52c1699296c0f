/** Returns the label of an operation in metrics and traces, from a fixed list: all batches share one label. */
export const operationLabel = (operation: string | null): string | null =>
  operation?.includes(',') ? 'batch' : operation;
