import { beforeAll, expect, test } from '@jest/globals';
import { echo, edge, mock } from '#test/support/engine.ts';
import { obstacles } from '#test/console/axe.ts';
import { describeConsole, rewrite, type Stage } from '#test/console/browser.ts';
import { soakTest } from '#test/support/soak.ts';

describeConsole('running again in the console', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  async function source() {
    const graph = {
      nodes: [
        mock('read', { output: 'About {letter}', cost_usd: 0.2 }),
        echo('answer', 'read + tone'),
      ],
      edges: [edge('read', 'answer')],
    };
    const workflowId = await stage.engine.define(graph, 'Answer a letter');
    const runId = await stage.engine.trigger(workflowId, { letter: 'tea', tone: '!' });
    await stage.engine.until(runId, ['success']);
    return { workflowId, runId };
  }
  const idOf = (url: string): string => new URL(url).pathname.split('/').at(-1)!;

  test('a run can be forked from a step with another state, and links back to its source', async () => {
    const { workflowId, runId } = await source();
    const draft = {
      nodes: [
        mock('read', { output: 'About {letter}', cost_usd: 0.2 }),
        echo('answer', 'read + tone + tone'),
      ],
      edges: [edge('read', 'answer')],
    };
    await stage.call('PUT', `/api/workflows/${workflowId}/draft`, { graph: draft });
    const { page, context, problems } = await stage.open(`/runs/${runId}?step=answer`);
    await page.getByRole('button', { name: 'Fork from here' }).click();
    const dialog = page.getByRole('dialog', { name: 'Fork the run from this step' });
    // The state as it was there, and what is changed in it.
    const state = dialog.getByRole('textbox', { name: 'State' });
    await state.getByText('"About tea"').waitFor();
    await rewrite(state, '{"letter": "tea", "tone": "?"}');
    await dialog.getByText('set “read” to null').waitFor();
    expect(await dialog.getByRole('button', { name: 'Fork', exact: true }).isDisabled()).toBe(true);
    await rewrite(state, '{"letter": "tea", "tone": "?", "read": "About tea"}');
    const changes = dialog.getByRole('group', { name: 'State changes' });
    await changes.getByText('tone: from "!" → to "?"').waitFor();
    await dialog.getByRole('combobox', { name: 'Graph' }).click();
    await page.getByRole('option', { name: 'The draft' }).click();
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(runId));
    const forked = await stage.engine.until(idOf(page.url()), ['success']);
    expect(forked).toMatchObject({
      ...{ forked_from: runId, forked_from_step: 'answer', of_draft: true },
      ...{ output: { answer: 'About tea??' }, cost_usd: 0 },
      laid: { answer: { tone: '?' } },
    });
    await page.getByText(/Forked from run .{6} at “answer” with 1 change/).waitFor();
    await page.getByText('Draft of the workflow').waitFor();
    await page.getByRole('row', { name: /^Read/i }).click();
    await page.getByText('it took no time and cost nothing here').waitFor();
    await page.goto(`${stage.url}/runs/${runId}/compare/${forked.id}`);
    const figures = page.getByRole('table', { name: 'Figures of the runs' });
    await figures.getByRole('rowheader', { name: 'State at “answer”' }).waitFor();
    await figures.getByText('tone: from "!" → to "?"').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.goBack();
    await page.getByRole('link', { name: `run ${runId.slice(-6)}` }).click();
    await page.waitForURL((url) => url.pathname.endsWith(runId));
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('earlier steps that are executed again are named', async () => {
    const { runId } = await source();
    const { page, context } = await stage.open(`/runs/${runId}?step=answer`);
    await page.getByRole('button', { name: 'Fork from here' }).click();
    const dialog = page.getByRole('dialog', { name: 'Fork the run from this step' });
    await rewrite(dialog.getByRole('textbox', { name: 'Input' }), '{"letter": "oil", "tone": "."}');
    await dialog.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.getByText('read: its input has changed').waitFor();
    const forked = await stage.engine.until(idOf(page.url()), ['success']);
    expect(forked.output).toEqual({ answer: 'About oil.' });
    await context.close();
  });

  soakTest('a rehearsal of a run is marked, and says what has no record', async () => {
    const { runId } = await source();
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Rehearse' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rehearse this run' });
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Rehearse', exact: true }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(runId));
    const rehearsal = await stage.engine.until(idOf(page.url()), ['success']);
    expect(rehearsal).toMatchObject({
      mode: 'recorded',
      output: { answer: 'About tea!' },
      cost_usd: 0,
    });
    await page.getByText('Rehearsal', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Rehearse' }).click();
    await rewrite(dialog.getByRole('textbox', { name: 'Input' }), '{"letter": "oil", "tone": "?"}');
    await dialog.getByRole('button', { name: 'Rehearse', exact: true }).click();
    await page.getByText("allow 'agent' to execute it").first().waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('a run that has ended is run again with its input', async () => {
    const { runId } = await source();
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    await page.getByRole('button', { name: 'Run again' }).click();
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(runId));
    await page.getByText(`Started again from run ${runId.slice(-6)}`).waitFor();
    const again = await stage.engine.until(idOf(page.url()), ['success']);
    expect(again).toMatchObject({ forked_from: runId, input: { letter: 'tea', tone: '!' } });
    expect(problems).toEqual([]);
    await context.close();
  });
});
