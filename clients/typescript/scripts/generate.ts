import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { appProceduresModule, eventsModule, operationsModule, routerModule } from './declarations.ts';

const FOLDER = join(import.meta.dirname, '../src/generated');

writeFileSync(join(FOLDER, 'app-procedures.ts'), appProceduresModule());
writeFileSync(join(FOLDER, 'events.ts'), eventsModule());
writeFileSync(join(FOLDER, 'operations.ts'), operationsModule('api'));
writeFileSync(join(FOLDER, 'operator.ts'), operationsModule('operator'));
writeFileSync(join(FOLDER, 'router.ts'), routerModule());
