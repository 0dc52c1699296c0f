import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Flags with which a server logs the plan of each statement, with the settings that it was made with. */
export const LOG_STATEMENTS: readonly string[] = [
  'shared_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'auto_explain.log_settings=on',
  'auto_explain.log_format=json',
  'logging_collector=on',
  'log_destination=jsonlog',
  'log_directory=statements',
];

export type LoggedStatement = {
  /** The name of its connection. */
  readonly connection: string;
  readonly text: string;
  /** Whether PostgreSQL may compile it. */
  readonly hasJit: boolean;
  /** What PostgreSQL expects it to cost. */
  readonly cost: number;
};

type Plan = {
  readonly 'Query Text': string;
  readonly Settings?: Readonly<Record<string, string>>;
  readonly Plan: { readonly 'Total Cost': number };
};

/** Reads the statements that a server has planned and executed. @param directory its data directory */
export function readStatements(directory: string): LoggedStatement[] {
  return globSync(join(directory, 'statements', '*.json')).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1) // the last line is not written to its end
      .map((line) => JSON.parse(line) as { application_name?: string; message: string })
      .flatMap(({ application_name: connection = '', message }) => {
        const [, json] = /^duration: [\d.]+ ms +plan:\n(.*)$/s.exec(message) ?? [];
        if (json === undefined) return [];
        const { 'Query Text': text, Settings: settings, Plan: plan } = JSON.parse(json) as Plan;
        return [{ connection, text, hasJit: settings?.['jit'] !== 'off', cost: plan['Total Cost'] }];
      }),
  );
}
