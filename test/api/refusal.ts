import { expect } from '@jest/globals';

/** Expects an answer with this error. `detail` is the whole text or a matcher; the body has nothing else. */
export function expectRefusal(
  { status, body }: { status: number; body: unknown },
  code: number,
  detail: unknown,
): void {
  expect([status, body]).toEqual([code, { detail }]);
}
