/**
 * Files that end with `.soak.test.ts` take long because of what they do: they kill processes at many moments, repeat a race
 * in numbers, wait for deadlines of servers, or walk all pages in all schemes and sizes. Generated cases run in both tiers,
 * more of them in the soak.
 */
const SOAK = String.raw`\.soak\.test\.ts$`;
const GENERATED = String.raw`/graph/generated/.*\.test\.ts$`;

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
  if (tier === 'soak') return [...rest, SOAK, GENERATED];
  return ['--testPathIgnorePatterns=/node_modules/', `--testPathIgnorePatterns=${SOAK}`, ...rest];
}

/** Whether the name of a file says that it is part of the soak. */
export const isSoak = (file: string): boolean => new RegExp(SOAK).test(file);

/** How many generated cases a tier runs; see test/graph/generated. */
export const numbersOf = (tier: Tier): Record<string, string> =>
  tier === 'short' ? {} : { GRAPHS: process.env['GRAPHS'] ?? '1000' };
