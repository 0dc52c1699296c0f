/** The words of the page about API keys. */
export const apiKeysTexts = {
  title: 'API keys',
} as const;
