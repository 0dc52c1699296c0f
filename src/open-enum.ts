import { z } from 'zod';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Rewrites the JSON Schema of an enum as its values or any other string. */
function openToOthers({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  jsonSchema.anyOf = [{ type: 'string', enum: jsonSchema.enum ?? [] }, { type: 'string' }];
  delete jsonSchema.type;
  delete jsonSchema.enum;
}

/**
 * An enum of responses to which later versions can add values. The service returns only these; documents and generated
 * types are open to others, so that clients that validate accept them.
 */
export const openEnum = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values).meta({ override: openToOthers });

/**
 * Converts a schema to the JSON Schema of its readers, as in the OpenAPI documents: open to other values of open enums,
 * and to members that later versions add.
 */
export const toJsonSchema = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, {
    override: ({ zodSchema, jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (z.globalRegistry.get(zodSchema)?.['override'] === openToOthers) openToOthers({ jsonSchema });
    },
  });
