import { defineEntity, p } from '@mikro-orm/core';
import { base, instant, text, textId } from './base.ts';

/** An import of rows, with the position up to which it is committed. */
const ImportRunSchema = defineEntity({
  name: 'ImportRun',
  tableName: 'import_run',
  properties: {
    ...base('imp'),
    /** SHA-256 of a file, by which the same command continues an interrupted run. Empty for uploads. */
    fingerprint: text(),
    /** The type of the rows that are read now. */
    stage: text(),
    /** The last line of the stage whose row is committed. */
    line: p.integer(),
    counts: p.json<Record<string, number>>(),
    /** The size of the report at the last commit: bytes of a file, which are written again from there, or rows. */
    reportBytes: p.bigint(),
    /** The number of commits. Of two processes only one can make the next. */
    batches: p.integer(),
    finishedAt: instant().nullable(),
    /** The operator key that uploaded the rows; null for the command line. Not deleted with the key. */
    operatorKeyId: textId().nullable(),
    isDryRun: p.boolean().default(false),
    /** Whether the rows of accounts and teams that the import creates have no events. */
    isSilent: p.boolean().default(false),
    /** When the upload was complete. */
    receivedAt: instant().nullable(),
    /** The number of lines of a complete upload. */
    lines: p.integer().nullable(),
    /** Why an upload was not imported to its end. */
    failure: text().nullable(),
    /** The position and the error, for humans. */
    failureDetail: text().nullable(),
    updatedAt: instant()
      .onCreate(() => new Date())
      .defaultRaw('now()'),
  },
  indexes: [
    { name: 'import_run_fingerprint_index', properties: ['fingerprint'] },
    {
      name: 'import_run_running_index',
      expression:
        'create unique index "import_run_running_index" on "import_run" ("operator_key_id") where "finished_at" is null',
    },
    {
      name: 'import_run_updated_index',
      expression:
        'create index "import_run_updated_index" on "import_run" ("updated_at") where "operator_key_id" is not null',
    },
  ],
});

export class ImportRun extends ImportRunSchema.class {}
ImportRunSchema.setClass(ImportRun);

/** A part of an upload, in the order of `number`. Deleted when the import ends. */
const ImportContentSchema = defineEntity({
  name: 'ImportContent',
  tableName: 'import_content',
  properties: {
    import: () => p.manyToOne(ImportRun).primary().deleteRule('cascade'),
    number: p.integer().primary(),
    bytes: p.blob().columnType('bytea').hidden(),
  },
});

export class ImportContent extends ImportContentSchema.class {}
ImportContentSchema.setClass(ImportContent);

/** A row of an upload that was refused. */
const ImportRefusalSchema = defineEntity({
  name: 'ImportRefusal',
  tableName: 'import_refusal',
  properties: {
    import: () => p.manyToOne(ImportRun).primary().deleteRule('cascade'),
    /** The position in the report, which is in the order of the import. */
    number: p.integer().primary(),
    line: p.integer(),
    type: text().nullable(),
    externalId: text().nullable(),
    code: text(),
    detail: text(),
  },
});

export class ImportRefusal extends ImportRefusalSchema.class {}
ImportRefusalSchema.setClass(ImportRefusal);
