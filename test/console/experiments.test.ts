import { beforeAll, describe, expect, test } from '@jest/globals';
import { replaceChecks } from '#shared/db/workflows/workflows.ts';
import { echo, edge, mock } from '#test/support/engine.ts';
import { redraft } from '#test/support/experiments.ts';
import { soakTest } from '#test/support/soak.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage } from './browser.ts';
import { groupsOf, meanDifference } from '#console/src/pages/experiments/run-groups.ts';
import { verdictOf } from '#console/src/pages/experiments/verdict.ts';
import type { ComparedRun, ListedExperiment } from '#client/index.ts';

type Summary = ListedExperiment['summary'];
const total = { base: 0, candidate: 0, difference: null };
const summary = ({ checks, ...rest }: Partial<Omit<Summary, 'checks'>> & { checks?: object }) => ({
  ...{ equal: 0, changed: 0, failed: 0, unrecorded: 0, refused: 0 },
  ...{ cost_usd: total, duration_ms: total },
  ...rest,
  checks: { won: 0, lost: 0, total: 0, broken: [], ...checks },
});
const verdict = (given: Parameters<typeof summary>[0], status: 'done' | 'running' = 'done') =>
  verdictOf({ status, summary: summary(given) });

describe('the verdict of an experiment', () => {
  const polite = { name: 'polite', runs: 20 };
  test.each<[string, Parameters<typeof summary>[0], string, string, string[]]>([
    [
      'a broken check',
      { changed: 20, checks: { lost: 20, total: 1, broken: [polite] } },
      'danger',
      'Do not publish: 20 of 20 runs break “polite”',
      [],
    ],
    [
      'several broken checks and a failed run',
      { changed: 19, failed: 1, checks: { total: 2, broken: [polite, { name: 'x', runs: 1 }] } },
      'danger',
      'Do not publish: 20 of 20 runs break “polite”',
      ['1 other check broke, too.', '1 run fails.'],
    ],
    ['a failed run', { equal: 3, failed: 1 }, 'danger', 'Do not publish: 1 of 4 runs fail', []],
    [
      'fixed checks',
      { changed: 5, checks: { won: 3, total: 2 } },
      'success',
      'No check broke, 3 fixed',
      [],
    ],
    ['checks', { changed: 5, checks: { total: 2 } }, 'success', 'No check broke', []],
    [
      'no checks',
      { equal: 8, changed: 12 },
      'warning',
      'Outputs differ in 12 of 20 runs; no checks',
      [],
    ],
    ['the same outputs', { equal: 20 }, 'success', 'Same output in all 20 runs', []],
    [
      'runs without a result',
      { equal: 2, unrecorded: 1 },
      'warning',
      'Same output in all 2 runs',
      ['1 run has no result, because it needs a step that was not recorded.'],
    ],
    [
      'no result at all',
      { unrecorded: 1, refused: 1 },
      'gray',
      'No verdict: no run has a result',
      [
        '1 run has no result, because it needs a step that was not recorded.',
        '1 run was refused. The table below has the reason.',
      ],
    ],
    ['no runs', {}, 'gray', 'No verdict: no run was rehearsed', []],
  ])('with %s', (_what, given, colour, title, notes) => {
    expect(verdict(given)).toEqual({ colour, title, notes });
  });

  test('comes once it has ended', () => {
    expect(verdict({ equal: 1 }, 'running')).toBeUndefined();
  });
});

describe('the runs of an experiment', () => {
  const run = (run_id: string, rest: Partial<ComparedRun> = {}): ComparedRun => ({
    ...{ run_id, rehearsal_run_id: null, input: '{}', outcome: 'changed', reason: null },
    diff: { differences: [{ path: '', change: 'changed', from: 'Dear', to: 'Hi' }], more: false },
    checks: { won: [], lost: [] },
    ...{ cost_usd: { base: 0.1, candidate: 0.3 }, duration_ms: null },
    ...rest,
  });

  test('are one row for each change', () => {
    const broken = { checks: { won: [], lost: ['polite'] } };
    const groups = groupsOf([run('a', broken), run('b'), run('c', broken), run('d')]);
    expect(
      groups.map(({ result, runs }) => [result, runs.map(({ run_id }) => run_id).join()]),
    ).toEqual([
      ['broken', 'a,c'],
      ['changed', 'b,d'],
    ]);
  });

  test('have a mean difference', () => {
    const free = run('b', { cost_usd: { base: 0, candidate: 0 } });
    expect(meanDifference([run('a'), free], 'cost_usd')).toBeCloseTo(0.1);
    expect(meanDifference([run('a')], 'duration_ms')).toBeUndefined();
  });
});

describeConsole('experiments in the console', (given) => {
  let stage: Stage;
  let workflowId: string;
  const graph = (expression: string) => ({
    nodes: [mock('read', { output: 'About {letter}', cost_usd: 0.2 }), echo('answer', expression)],
    edges: [edge('read', 'answer')],
  });
  beforeAll(async () => {
    stage = given();
    const { engine } = stage;
    workflowId = await engine.define(graph('read'), 'Read letters');
    const checks = [{ name: 'says about', type: 'contains', value: 'About' }] as never;
    await replaceChecks(engine.db, engine.actor, workflowId, checks);
    for (const letter of ['tea', 'oil', 'ink']) {
      const input = { letter, other: letter === 'oil' ? 'Nothing' : `About ${letter}` };
      await engine.until(await engine.trigger(workflowId, input), ['success']);
    }
    await redraft(engine, workflowId, graph('other'));
  });

  test('a draft is tried on past runs, and the worst run comes first, with its changes', async () => {
    const { page, context, problems } = await stage.open(
      `/workflows/${workflowId}?tab=experiments`,
    );
    await page.getByText('No experiments yet').waitFor();
    await page.getByRole('button', { name: 'Try on past runs' }).click();
    const dialog = page.getByRole('dialog', { name: 'Try on past runs' });
    await dialog.getByRole('textbox', { name: 'Runs' }).fill('10');
    await dialog.getByRole('checkbox', { name: /Call models/ }).check();
    await dialog.getByRole('textbox', { name: 'Budget (USD)' }).fill('1');
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start experiment' }).click();
    await page.getByRole('heading', { name: 'Experiment: Draft' }).waitFor();
    const banner = page.getByRole('status').filter({ hasText: 'Do not publish' });
    await banner.getByText('Do not publish: 1 of 3 runs break “says about”').waitFor();
    const table = page.getByRole('table', { name: 'Runs of the experiment, the worst first' });
    const rows = table.getByRole('row');
    // The two runs without a change are one row.
    await rows.nth(2).waitFor();
    expect(await rows.count()).toBe(3);
    const worst = rows.nth(1);
    await worst.getByText('Check broken').waitFor();
    await worst.getByText('Broken: says about').waitFor();
    await worst.locator('del', { hasText: 'About oil' }).waitFor();
    await worst.locator('ins', { hasText: 'Nothing' }).waitFor();
    await rows.nth(2).getByText('2 ×').waitFor();
    await rows.nth(2).getByText('Same output').waitFor();
    await page.getByText('Equal 2', { exact: true }).click();
    expect(await rows.count()).toBe(2);
    await page.getByText('All 3', { exact: true }).click();
    await page.getByText('$0.00 of $1.00').waitFor();
    expect(await obstacles(page)).toEqual([]);

    await worst.getByRole('link', { name: /"letter":/ }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await worst.getByText('Broken: says about').waitFor();
    const widths = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
    ]);
    expect(widths[0]).toBe(widths[1]);
    expect(await obstacles(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });

    await banner.getByRole('link', { name: 'Publish…' }).click();
    await page.getByRole('dialog', { name: 'Publish this draft?' }).waitFor();
    await page.goBack();
    await worst.getByRole('link', { name: 'Rehearsal' }).click();
    await page.getByText('Rehearses').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Read letters' }).click();
    await page.getByRole('table', { name: 'Experiments of the workflow' }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest(
    'a workflow that asks for an experiment says so when its draft is published',
    async () => {
      const { page, context } = await stage.open(`/workflows/${workflowId}?tab=settings`);
      await page.getByRole('switch', { name: 'Publish only after an experiment' }).click();
      await page.getByRole('button', { name: 'Save changes' }).click();
      await page.getByText('Settings saved').waitFor();
      await page.goto(page.url().replace(/\?.*/, '/edit'));
      await page.getByRole('button', { name: 'Try on past runs' }).waitFor();
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      await page.getByRole('button', { name: 'Publish draft' }).click();
      await page.getByText('published only after an experiment without lost checks').waitFor();
      await context.close();
    },
  );
});
