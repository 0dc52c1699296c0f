import { Text } from '@mantine/core';
import { SEPARATOR } from '../messages/language.ts';
import { provenMethodTexts as words } from '../messages/proof.ts';

const NAMES: Readonly<Record<string, string>> = words.names;

/** The methods by which a user signed in and proved who they are since; nothing if none is known. */
export const ProvenMethods = ({ methods }: { readonly methods: readonly string[] }) =>
  methods.length > 0 && (
    <Text size="sm" c="dimmed">
      {words.signedIn(methods.map((method) => NAMES[method] ?? method).join(SEPARATOR))}
    </Text>
  );
