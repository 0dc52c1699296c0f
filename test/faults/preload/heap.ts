// On SIGUSR2, says how much of the heap is in use after a collection.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: object) => void;

process.on('SIGUSR2', () => {
  // With what is only kept to be quicker, such as compiled code, which comes and goes.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  process.stdout.write(`heap in use: ${process.memoryUsage().heapUsed}\n`);
});
