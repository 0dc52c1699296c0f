import { mergeConfig } from 'vitest/config';
import faults from './vitest.faults.config.ts';

// eslint-disable-next-line import/no-default-export -- vitest reads it
export default mergeConfig(faults, { test: { env: { SOAK_SECONDS: '300' } } });
