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

/** The test folders of sources, where the names differ. */
const folders: readonly [source: string, tests: string][] = [
  ['workflows/', 'engine'],
  ['shared/db/', 'db'],
  ['shared/graph/', 'graph'],
  ['shared/platform/', 'platform'],
  ['shared/policies/', 'policies'],
  ['migrations/', 'db'],
  ['scripts/', 'launcher'],
];

function areaOf(file: string): string {
  const [, tests] = folders.find(([source]) => file.startsWith(source)) ?? [];
  return `test/${tests ?? file.split('/')[0] ?? ''}/`;
}

const nameOf = (path: string): string =>
  path.replace(/^.*\//, '').replace(/s?(?:\.soak)?(?:\.test)?\.\w+$/, '');

/**
 * How much the path of a test has in common with a changed file. The same name of the file counts four times, a common
 * folder twice, and each common word once: `test/api/runs/` has its folder and two words in common with
 * `api/routes/ops/runs/runs.ts`, and `test/engine/resume.test.ts` the name of `shared/db/runs/resumes.ts`.
 */
function likeness(test: string, changed: readonly string[]): number {
  const words = wordsOf(test);
  return Math.max(
    0,
    ...changed.map(
      (file) =>
        [...wordsOf(file)].filter((word) => words.has(word)).length +
        (nameOf(test) === nameOf(file) ? 4 : 0) +
        (test.startsWith(areaOf(file)) ? 2 : 0),
    ),
  );
}

/**
 * The tests most likely to fail after a change, best first: tests that import a changed file directly, then those whose
 * path is most like one, then the nearest by imports. Their total duration fits `budgetSeconds`; at least
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
      like: likeness(test.file, changed),
    }))
    .sort(
      (a, b) =>
        a.indirect - b.indirect ||
        b.like - a.like ||
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
