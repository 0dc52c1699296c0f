import { parentPort, workerData } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';
import type { BcryptWork } from './bcrypt.ts';

const { password, hash } = workerData as BcryptWork; // of `compareBcrypt`
parentPort?.postMessage(compareSync(password, hash));
