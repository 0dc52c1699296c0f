import { describeBehind } from './behind-pooler.ts';
import { printTable } from './table.ts';

printTable();

describeBehind(
  'transaction mode that keeps prepared statements',
  { mode: 'transaction', size: 4, keepsStatements: true },
  'in transaction mode, with prepared statements; jobs are found by polling',
);
