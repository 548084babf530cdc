import { describe, test } from '@jest/globals';

/** The soak also runs each file that imports this one. */
const { ALL_ROUNDS, SOAK_TESTS } = process.env;

/** How many times a race is run: all of them in the soak, elsewhere a quarter, at least four. */
export const raceRounds = (inTheSoak: number): number =>
  ALL_ROUNDS === 'on' ? inTheSoak : Math.max(4, Math.ceil(inTheSoak / 4));

const omitted = Object.assign(() => undefined, {
  each: () => () => undefined,
}) as unknown;

/** A limit is in ms, on an idle machine. */
type SoakTest = Pick<typeof test, 'each'> &
  ((title: string, ...given: [number, () => unknown] | [() => unknown]) => void);

const included = (title: string, ...given: [number, () => unknown] | [() => unknown]): void => {
  const [limitMs, body] = given.length === 2 ? given : [undefined, given[0]];
  test(title, body as () => void, limitMs);
};
// This module serves many test files, and each has a `test.each` of its own.
Object.defineProperty(included, 'each', { get: () => test.each });

/**
 * A test of the soak beside shorter ones of the same subject, which `npm test` runs: a journey, a whole table of cases, or a
 * wait for a deadline. Also runs where its file is named. Its time limit comes before its body.
 */
export const soakTest: SoakTest = (SOAK_TESTS === 'on' ? included : omitted) as SoakTest;

/** Tests of the soak that share their preparation. */
export const soakDescribe: typeof describe =
  SOAK_TESTS === 'on' ? describe : (omitted as typeof describe);

/** The cases of a table: all of them in the soak, elsewhere the first ones. */
export const soakCases = <T>(cases: readonly T[], elsewhere: number): T[] =>
  SOAK_TESTS === 'on' ? [...cases] : cases.slice(0, elsewhere);
