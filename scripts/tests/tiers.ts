import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Files that end with `.soak.test.ts` take long because of what they do: they kill processes at many moments, repeat a
 * race many times, wait for deadlines of servers, or walk all pages in all schemes and sizes. Generated cases and the
 * files that import test/support/soak.ts run in both tiers, with more cases, rounds and tests in the soak.
 */
const SOAK = String.raw`\.soak\.test\.ts$`;
const GENERATED = String.raw`/graph/generated/.*\.test\.ts$`;
const MIXED = "from '#test/support/soak.ts'";

const tiers = ['short', 'soak', 'all'] as const;
export type Tier = (typeof tiers)[number];

/** The value of `--tier`, and the other arguments. The default is `short`. */
export function tierOf(args: readonly string[]): { tier: Tier; rest: string[] } {
  const at = args.indexOf('--tier');
  if (at === -1) return { tier: 'short', rest: [...args] };
  const tier = tiers.find((name) => name === args[at + 1]);
  if (tier === undefined) throw new Error(`--tier takes one of ${tiers.join(', ')}`);
  return { tier, rest: args.toSpliced(at, 2) };
}

/** Whether the arguments select no tests, except for a shard. */
export const isWhole = (rest: readonly string[]): boolean =>
  rest.every((argument, at) => argument.startsWith('--shard') || rest[at - 1] === '--shard');

/** The arguments of jest. Without a path: the files of the tier. */
export function jestArguments(tier: Tier, rest: readonly string[]): string[] {
  if (tier === 'all' || namesFiles(rest)) return [...rest];
  if (tier === 'soak') return [...rest, SOAK, GENERATED, ...mixedFiles()];
  return ['--testPathIgnorePatterns=/node_modules/', `--testPathIgnorePatterns=${SOAK}`, ...rest];
}

const namesFiles = (rest: readonly string[]): boolean =>
  rest.some((part) => !part.startsWith('-') && part.includes('test/'));

/** The test files that have more in the soak, as patterns. */
function mixedFiles(): string[] {
  const folder = join(import.meta.dirname, '../../test');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => readFileSync(join(folder, file), 'utf8').includes(MIXED))
    .map((file) => `/test/${file.replaceAll('.', String.raw`\.`)}$`)
    .sort();
}

/** Whether the name of a file says that it is part of the soak. */
export const isSoak = (file: string): boolean => new RegExp(SOAK).test(file);

/**
 * What a tier runs more of: generated cases (test/graph/generated), rounds of races, and tests of the soak
 * (test/support/soak.ts). Someone who names a file wants all of its tests.
 */
export function numbersOf(tier: Tier, rest: readonly string[]): Record<string, string> {
  const all = tier !== 'short';
  const byHand = namesFiles(rest) && !rest.includes('--runTestsByPath');
  return {
    ...(all ? { GRAPHS: process.env['GRAPHS'] ?? '2000', ALL_ROUNDS: 'on' } : {}),
    ...(all || byHand ? { SOAK_TESTS: 'on' } : {}),
  };
}
