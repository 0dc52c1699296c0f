import { afterEach, beforeEach, expect, vi } from 'vitest';
import './matchers.ts';

/* eslint-disable no-console -- it is what is watched */

// Nothing may complain behind the tests' back.
beforeEach(() => {
  vi.spyOn(console, 'error');
  vi.spyOn(console, 'warn');
});

afterEach(() => {
  expect(vi.mocked(console.error).mock.calls, 'unexpected console.error').toEqual([]);
  expect(vi.mocked(console.warn).mock.calls, 'unexpected console.warn').toEqual([]);
  vi.restoreAllMocks();
});
