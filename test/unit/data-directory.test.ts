import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { openEmbedded } from '../../src/service/open.ts';

// Guarantees that a path at which nothing can be created is named with what to do. Root cannot create it, either.
test
  .skipIf(process.platform !== 'linux')
  .for(['/proc/roster', '/proc/self/roster/var', '/dev/null/var', '/sys/roster'])(
  'a data directory that cannot be created is one line: %s',
  async (dataDir) => {
    const opened = openEmbedded({ ...readConfig({}), dataDir });
    await expect(opened).rejects.toBeInstanceOf(ConfigError);
    await expect(opened).rejects.toThrow(
      new RegExp(
        `^DATA_DIR: ${dataDir} cannot be used: (it cannot be created: set it to another directory|it is not a directory|access is denied to this user|the file system is read-only) \\(E\\w+\\)$`,
      ),
    );
  },
);
