import { beforeAll, expect, test } from '@jest/globals';
import { shortId } from '#console/src/parts/text/short-id.ts';
import { obstacles } from '#test/console/axe.ts';
import { echo, mock } from '#test/support/engine.ts';
import { describeConsole, type Stage } from '#test/console/browser.ts';

const gate = { id: 'sign', kind: 'human_gate', prompt: 'Sign?' } as never;
const form = {
  id: 'fill',
  kind: 'human_gate',
  prompt: 'Fill?',
  input_schema: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
} as never;

describeConsole('the states of runs', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  test('cancelled and draft runs have their own badge, and rehearsals are listed if a filter requests them', async () => {
    const { engine } = stage;
    const cancelled = await engine.start({ nodes: [gate], edges: [] });
    await engine.until(cancelled, ['paused']);
    await engine.cancel(cancelled);
    await engine.until(cancelled, ['failed']);

    const graph = { nodes: [echo('one')], edges: [] };
    const workflow = await stage.call('POST', '/api/workflows', { name: 'Drafted', graph });
    const { id } = workflow.body;
    await stage.call('PUT', `/api/workflows/${id}/draft`, { graph });
    const drafted = await stage.call('POST', `/api/workflows/${id}/runs?draft=true`, {});
    expect(drafted.status).toBe(201);
    await engine.until(drafted.body.id, ['success']);
    const rehearsal = await stage.call('POST', `/api/runs/${drafted.body.id}/rerun`, {
      mode: 'recorded',
    });
    expect(rehearsal.status).toBe(201);

    const { page, context, problems } = await stage.open('/runs');
    const table = page.getByRole('table', { name: 'Runs, newest first' });
    const row = (runId: string) => table.getByRole('row').filter({ hasText: shortId(runId) });
    await row(cancelled).getByText('Cancelled', { exact: true }).waitFor();
    await row(drafted.body.id).getByText('Draft', { exact: true }).waitFor();
    expect(await row(rehearsal.body.id).count()).toBe(0);
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('combobox', { name: 'Rehearsals' }).click();
    await page.getByRole('option', { name: 'Shown' }).click();
    await row(rehearsal.body.id).getByText('Rehearsal', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    expect(await obstacles(page)).toEqual([]);

    await page.goto(`${stage.url}/workflows/${id}?tab=runs`);
    const runs = page.getByRole('row').filter({ hasText: shortId(drafted.body.id) });
    await runs.getByText('Draft', { exact: true }).waitFor();
    await page.goto(`${stage.url}/`);
    await page.getByText('including 1 cancelled run').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('only runs whose decision needs a yes count for the approval of many', async () => {
    const { engine } = stage;
    const busy = await engine.start({ nodes: [mock('wait', { delay_ms: 60_000 })], edges: [] });
    const filled = await engine.start({ nodes: [form], edges: [] });
    const signed = await engine.start({ nodes: [gate], edges: [] });
    await engine.until(filled, ['paused']);
    await engine.until(signed, ['paused']);
    await engine.until(busy, ['running']);
    const { page, context } = await stage.open('/runs?status=running&status=paused');
    await page.getByRole('checkbox', { name: `Select ${busy}` }).waitFor();
    await page.getByText('Running or Paused').waitFor();
    expect(await page.getByRole('checkbox', { name: /^Select run_/ }).count()).toBe(3);
    for (const runId of [busy, filled, signed]) {
      await page.getByRole('checkbox', { name: `Select ${runId}` }).check();
    }
    await page.getByRole('button', { name: 'Approve (1)' }).waitFor();
    await engine.cancel(busy);
    await context.close();
  });
});
