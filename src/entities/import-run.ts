import { defineEntity, p } from '@mikro-orm/core';
import { base, instant, text } from './base.ts';

/** An import of a file, with the position up to which it is committed. */
const ImportRunSchema = defineEntity({
  name: 'ImportRun',
  tableName: 'import_run',
  properties: {
    ...base('imp'),
    /** SHA-256 of the file, by which the same command continues an interrupted run. */
    fingerprint: text(),
    /** The type of the rows that are read now. */
    stage: text(),
    /** The last line of the stage whose row is committed. */
    line: p.integer(),
    counts: p.json<Record<string, number>>(),
    /** The size of the report at the last commit; the rest is written again. */
    reportBytes: p.bigint(),
    /** The number of commits. Of two processes only one can make the next. */
    batches: p.integer(),
    finishedAt: instant().nullable(),
  },
  indexes: [{ name: 'import_run_fingerprint_index', properties: ['fingerprint'] }],
});

export class ImportRun extends ImportRunSchema.class {}
ImportRunSchema.setClass(ImportRun);
