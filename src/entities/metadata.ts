import { p } from '@mikro-orm/core';

/** The data of the operator's product about an account, team or membership: each part is a JSON object. */
export const METADATA_PARTS = ['public', 'private'] as const;
export type MetadataPart = (typeof METADATA_PARTS)[number];

/** The most bytes of the JSON text of a part, in UTF-8. */
export const METADATA_BYTES_MAX = 8192;

export type JsonObject = { readonly [name: string]: unknown };

/** `json`, which keeps the text, so that its bytes are those that are limited. Not loaded with the row. */
const part = () => p.json<JsonObject>().columnType('json').defaultRaw(`'{}'`).lazy().hidden();

/** The columns of a table whose rows have metadata. The version counts the changes. */
export const metadataColumns = () => ({
  publicMetadata: part(),
  privateMetadata: part(),
  metadataVersion: p.integer().default(0).lazy().hidden(),
});

export const metadataChecks = (table: string) =>
  METADATA_PARTS.map((name) => ({
    name: `${table}_${name}_metadata_check`,
    expression: `json_typeof(${name}_metadata) = 'object' and octet_length(${name}_metadata::text) <= ${METADATA_BYTES_MAX}`,
  }));
