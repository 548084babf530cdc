import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Files that end with `.soak.test.ts` take long because of what they do: they kill processes at many moments, repeat a race
 * in numbers, wait for deadlines of servers, or walk all pages in all schemes and sizes. Generated cases and the files that
 * ask for `raceRounds` run in both tiers, with more cases and rounds in the soak.
 */
const SOAK = String.raw`\.soak\.test\.ts$`;
const GENERATED = String.raw`/graph/generated/.*\.test\.ts$`;
const RACES = "from '#test/support/rounds.ts'";

const tiers = ['short', 'soak', 'all'] as const;
export type Tier = (typeof tiers)[number];

/** What `--tier` says, and the other arguments. The default is `short`. */
export function tierOf(args: readonly string[]): { tier: Tier; rest: string[] } {
  const at = args.indexOf('--tier');
  if (at === -1) return { tier: 'short', rest: [...args] };
  const tier = tiers.find((name) => name === args[at + 1]);
  if (tier === undefined) throw new Error(`--tier takes one of ${tiers.join(', ')}`);
  return { tier, rest: args.toSpliced(at, 2) };
}

/** Whether the arguments choose no tests, except a shard. */
export const isWhole = (rest: readonly string[]): boolean =>
  rest.every((argument, at) => argument.startsWith('--shard') || rest[at - 1] === '--shard');

/** The arguments of jest. Without a path: the files of the tier. */
export function jestArguments(tier: Tier, rest: readonly string[]): string[] {
  const named = rest.some((part) => !part.startsWith('-') && part.includes('test/'));
  if (tier === 'all' || named) return [...rest];
  if (tier === 'soak') return [...rest, SOAK, GENERATED, ...filesWithRaces()];
  return ['--testPathIgnorePatterns=/node_modules/', `--testPathIgnorePatterns=${SOAK}`, ...rest];
}

/** The test files whose races have more rounds in the soak, as patterns. */
function filesWithRaces(): string[] {
  const folder = join(import.meta.dirname, '../../test');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => readFileSync(join(folder, file), 'utf8').includes(RACES))
    .map((file) => `/test/${file.replaceAll('.', String.raw`\.`)}$`)
    .sort();
}

/** Whether the name of a file says that it is part of the soak. */
export const isSoak = (file: string): boolean => new RegExp(SOAK).test(file);

/** How many generated cases and rounds of races a tier runs; see test/graph/generated and test/support/rounds.ts. */
export const numbersOf = (tier: Tier): Record<string, string> =>
  tier === 'short' ? {} : { GRAPHS: process.env['GRAPHS'] ?? '1000', ALL_ROUNDS: 'on' };
