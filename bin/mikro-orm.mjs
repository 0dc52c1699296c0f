// Node.js runs TypeScript itself. Without this, the command line finds no loader and ignores mikro-orm.config.ts.
process.env.MIKRO_ORM_CLI_PREFER_TS ??= '1';
await import('../node_modules/@mikro-orm/cli/cli.js');
