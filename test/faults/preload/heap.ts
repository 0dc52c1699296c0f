// On SIGUSR2, says how much of the heap is in use after a collection.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  collect();
  process.stdout.write(`heap in use: ${process.memoryUsage().heapUsed}\n`);
});
