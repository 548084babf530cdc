import { beforeAll, describe, expect, test } from '@jest/globals';
import { comparedSteps, deltaText } from '#console/src/pages/runs/compare/compared.ts';
import { sql } from '#shared/db/pool.ts';
import { edge, eventually, mock } from '#test/support/engine.ts';
import { obstacles } from '#test/console/axe.ts';
import { describeConsole, placeOf, type Stage } from '#test/console/browser.ts';
import { step } from './run-samples.ts';

describe('the steps of two runs', () => {
  test('are compared by their keys, in the order of the older run', () => {
    const older = [
      step({ node_id: 'a', output: { x: 1, y: [1] } }),
      step({ node_id: 'b', iteration: [1], output: 'same' }),
      step({ node_id: 'c', status: 'failed', error: 'refused' }),
    ];
    const newer = [
      step({ node_id: 'first' }),
      step({ node_id: 'a', output: { y: [1], x: 1 }, duration_ms: 500 }),
      step({ node_id: 'b', iteration: [1], output: 'other' }),
      step({ node_id: 'b', iteration: [2] }),
    ];
    expect(
      comparedSteps(older, newer).map(({ key, output, differs }) => [key, output, differs]),
    ).toEqual([
      ['first', 'newer only', true],
      // The order of keys and the times do not count.
      ['a', 'same', false],
      ['b#1', 'differs', true],
      ['b#2', 'newer only', true],
      ['c', 'older only', true],
    ]);
    expect(comparedSteps([], [])).toEqual([]);
  });

  test('have differences with a sign', () => {
    const text = (size: number) => `${size} ms`;
    expect(deltaText(100, 250, text)).toBe('+150 ms');
    expect(deltaText(250, 100, text)).toBe('−150 ms');
    expect(deltaText(100, 100, text)).toBeUndefined();
    expect(deltaText(100, null, text)).toBeUndefined();
  });
});

describeConsole('the page that compares two runs', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  test('is reached from a run, and shows what differs', async () => {
    const { engine, open } = stage;
    const nodes = [
      mock('read', { output: 'The letter' }),
      mock('answer', { output: { to: '{name}', n: 1 } }),
    ];
    const workflowId = await engine.define(
      { nodes, edges: [edge('read', 'answer')] },
      'Answer a letter',
    );
    const runIds: string[] = [];
    for (const name of ['Ann', 'Bob']) {
      const runId = await engine.trigger(workflowId, { name });
      await engine.until(runId, ['success']);
      runIds.push(runId);
    }
    const { page, context, problems } = await open(`/runs/${runIds[1]}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Compare with…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Compare with another run' });
    await dialog.getByText('Recent runs of this workflow').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.waitForURL(`**/runs/${runIds[1]}/compare/${runIds[0]}`);

    await page.getByText('1 of 2 steps differ').waitFor();
    const rows = page.getByRole('table', { name: 'Compared steps' }).getByRole('row');
    await rows.nth(1).getByText('Same').waitFor();
    await page.getByRole('switch', { name: 'Only differences' }).check();
    expect(await rows.count()).toBe(2);
    await page.setViewportSize({ width: 1280, height: 500 });
    await rows.nth(1).getByRole('button', { name: 'answer' }).click();
    const result = page.getByRole('heading', { name: 'Results of answer' });
    await eventually(async () => (await placeOf(result)).y < 450);
    const differences = page.getByRole('group', { name: 'Differences' });
    await differences.getByText('to: from "Ann" → to "Bob"').waitFor();
    await page.getByRole('region', { name: 'Newer run' }).getByText('Bob').waitFor();
    expect(await obstacles(page)).toEqual([]);

    // The older run is on the left, and the difference is that of the newer one, whichever the address begins with.
    await engine.db.query(sql.unsafe`
      UPDATE runs SET active_ms = CASE id WHEN ${runIds[0]!} THEN 1000 ELSE 1400 END WHERE id IN (${runIds[0]!}, ${runIds[1]!})
    `);
    for (const [one, other] of [runIds, runIds.toReversed()]) {
      await page.goto(`${stage.url}/runs/${one}/compare/${other}`);
      const figures = page.getByRole('table', { name: 'Figures of the runs' });
      const working = figures.getByRole('row', { name: 'Working' });
      // The ends of ids, as elsewhere.
      const [older, newer] = runIds.map((id) => id!.slice(-6));
      expect(await figures.getByRole('row', { name: /^Run / }).innerText()).toMatch(
        new RegExp(`${older}\\s+${newer}`),
      );
      expect(await working.getByRole('cell').allInnerTexts()).toEqual([
        '1.0 s',
        '1.4 s',
        '+400 ms',
      ]);
      await figures.getByRole('columnheader', { name: 'Newer − older' }).waitFor();
    }
    await page.goto(`${stage.url}/runs/${runIds[0]}`);
    await page.getByRole('heading', { name: 'Answer a letter' }).waitFor();
    expect(problems).toEqual([]);
    await page.goto(`${stage.url}/runs/${runIds[0]}/compare/run_nothing`);
    await page.getByRole('alert').getByText('run_nothing').waitFor();
    await context.close();
  });
});
