import { z } from 'zod';
import type { FaceSettings } from './face-settings.ts';
import type { Route } from './routes.ts';

type ParameterText = { readonly description: string; readonly example: string | number };

/** Returns the description and example of a parameter: those of the interface, else those of the input. @throws Error if nothing describes it */
export function describeParameter({ parameters }: FaceSettings, { operationId, input }: Route, name: string) {
  const text = parameters[`${operationId}.${name}`] ?? parameters[name] ?? textOf(input?.shape[name]);
  if (text === undefined) throw new Error(`${operationId} has the parameter ${name}, which nothing describes`);
  return text;
}

function textOf(schema: unknown): ParameterText | undefined {
  const { description, example } = schema instanceof z.ZodType ? (schema.meta() ?? {}) : {};
  return description === undefined ? undefined : { description, example: example as string | number }; // of a parameter
}
