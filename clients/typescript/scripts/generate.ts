import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operationsModule, routerModule } from './declarations.ts';

const FOLDER = join(import.meta.dirname, '../src/generated');

writeFileSync(join(FOLDER, 'operations.ts'), operationsModule());
writeFileSync(join(FOLDER, 'router.ts'), routerModule());
