export interface RelatedTest {
  file: string;
  /** The number of imports between the test and the change. */
  distance: number;
  /** The duration of its last run, in seconds. */
  seconds: number;
}

const wordsOf = (path: string): Set<string> =>
  new Set(
    path
      .replace(/\.(?:test\.)?tsx?$/, '')
      .split(/[/.-]/)
      .map((word) => word.replace(/s$/, '')),
  );

/**
 * Words that the path of a test shares with a changed file: `test/api/runs/` and `api/routes/ops/runs.ts` share two.
 */
function sharedWords(test: string, changed: readonly string[]): number {
  const words = wordsOf(test);
  return Math.max(
    0,
    ...changed.map((file) => [...wordsOf(file)].filter((word) => words.has(word)).length),
  );
}

/**
 * The tests most likely to fail after a change, best first: tests that import a changed file directly, then those whose
 * path shares most words with one, then the nearest by imports. Their total duration fits `budgetSeconds`; at least
 * one.
 */
export function chooseTests(
  related: readonly RelatedTest[],
  changed: readonly string[],
  budgetSeconds: number,
): string[] {
  const ranked = related
    .map((test) => ({
      ...test,
      indirect: test.distance > 1 ? 1 : 0,
      words: sharedWords(test.file, changed),
    }))
    .sort(
      (a, b) =>
        a.indirect - b.indirect ||
        b.words - a.words ||
        a.distance - b.distance ||
        a.seconds - b.seconds,
    );
  const chosen: string[] = [];
  let left = budgetSeconds;
  for (const { file, seconds } of ranked) {
    if (seconds > left && chosen.length > 0) continue;
    chosen.push(file);
    left -= seconds;
  }
  return chosen;
}
