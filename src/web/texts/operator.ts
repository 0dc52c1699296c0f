/** The words of the page about the operator's area. */
export const operatorTexts = {
  title: 'Operator',
} as const;
