import { Textarea, TextInput, type TextareaProps, type TextInputProps } from '@mantine/core';
import { developerTexts as words } from '../../messages/oauth.ts';

/** The props that the form passes to a field. */
type Field<Props> = { readonly field: Props };

export const NameField = ({ field }: Field<TextInputProps>) => (
  <TextInput label={words.name} description={words.nameHint} autoComplete="off" required data-autofocus {...field} />
);

export const RedirectUrisField = ({ field }: Field<TextareaProps>) => (
  <Textarea
    label={words.redirectUris}
    description={words.redirectUrisHint}
    autoComplete="off"
    autoCapitalize="none"
    spellCheck={false}
    size="md"
    rows={3}
    required
    withAsterisk={false}
    {...field}
  />
);

/** Returns the lines of a field, trimmed and without empty ones. */
export const splitLines = (value: string): string[] =>
  value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
