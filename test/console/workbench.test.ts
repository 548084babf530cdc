import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { echo, edge, eventually } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { obstacles } from './axe.ts';
import { describeConsole, rewrite, type Visit } from './browser.ts';

const letters = {
  nodes: [
    {
      id: 'read',
      kind: 'agent',
      prompt: '{letter}',
      mock: { output: 'About {letter}', cost_usd: 0.2 },
    },
    echo('answer', "read + '!'"),
  ],
  edges: [edge('read', 'answer')],
};

describeConsole('the editor as a workbench', (stage) => {
  const made = async (name: string, graph: unknown = letters): Promise<string> =>
    (await stage().call('POST', '/api/workflows', { name, graph })).body.id;
  const opened = async (id: string): Promise<Visit> => stage().open(`/workflows/${id}/edit`);
  const draftOf = async (id: string) =>
    (await stage().call('GET', `/api/workflows/${id}/draft`)).body;
  const settled = async ({ page, problems, context }: Visit): Promise<void> => {
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  };

  test('runs the draft, shows what each node did, and stores it', async () => {
    const id = await made('Run while drawing');
    const visit = await opened(id);
    const { page } = visit;
    await card(page, 'answer').click();
    await page.getByLabel('Label').fill('Reply');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Run this draft' });
    await rewrite(dialog.getByRole('textbox', { name: 'Input' }), '{"letter": "tea"}');
    expect(await obstacles(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await card(page, 'read').getByText('$0.20').waitFor();
    await card(page, 'answer').getByText('Success').waitFor();
    expect(await obstacles(page)).toEqual([]);

    await card(page, 'read').click();
    await page.getByRole('tab', { name: 'Output' }).click();
    await page.getByRole('tabpanel', { name: 'Output' }).getByText('About tea').waitFor();

    // A run of the draft, and not of the version, which has no label.
    await page.getByRole('tab', { name: 'Run' }).click();
    await page.getByRole('list', { name: 'Steps' }).getByText('Reply').waitFor();
    await page.getByRole('link', { name: 'Open run' }).click();
    await page.waitForURL('**/runs/run_*');
    await page.goBack();
    await card(page, 'answer').getByText('Success').waitFor();
    await page.getByRole('tab', { name: 'Run' }).click();
    await page.getByRole('button', { name: 'Run again' }).click();
    const runs = async () =>
      (await stage().call('GET', `/api/workflows/${id}/runs`)).body.runs as { of_draft: boolean }[];
    await eventually(async () => (await runs()).length === 2);
    expect((await runs()).map(({ of_draft: ofDraft }) => ofDraft)).toEqual([true, true]);
    await card(page, 'answer').getByText('Success').waitFor();
    await settled(visit);
  });

  soakTest('selects the node that failed, and stops a run that waits', async () => {
    const id = await made('Fails', {
      nodes: [echo('fine', '1'), echo('broken', 'fine / 0')],
      edges: [edge('fine', 'broken')],
    });
    const visit = await opened(id);
    const { page } = visit;
    await card(page, 'fine').waitFor();
    await runIt(page);
    const result = page.getByRole('region', { name: 'What this node did in the run' });
    await result.getByRole('alert').waitFor();
    expect(await page.getByLabel('ID', { exact: true }).inputValue()).toBe('broken');
    expect(await obstacles(page)).toEqual([]);

    const waiting = await made('Waits', { nodes: [{ id: 'ok', kind: 'human_gate' }], edges: [] });
    await page.goto(`${stage().url}/workflows/${waiting}/edit`);
    await card(page, 'ok').waitFor();
    await runIt(page);
    await card(page, 'ok').getByText('Paused').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Run again' }).waitFor();
    await settled(visit);
  });

  soakTest(
    'adds nodes by drag, by the + of an edge and by dropping an edge, and undoes each at once',
    async () => {
      const id = await made('Added', {
        nodes: [
          { id: 'a', kind: 'merge', position: { x: 0, y: 0 } },
          { id: 'b', kind: 'merge', position: { x: 260, y: 0 } },
        ],
        edges: [edge('a', 'b')],
      });
      const visit = await opened(id);
      const { page } = visit;
      await card(page, 'a').waitFor();
      await page.getByRole('button', { name: 'Insert node' }).click();
      const palette = page.getByRole('dialog', { name: 'Add a node' });
      await palette.getByText('Inserts between a and b').waitFor();
      expect(await obstacles(page)).toEqual([]);
      await palette.getByRole('option', { name: 'Condition' }).click();
      await card(page, 'condition_1').waitFor();

      await page.getByRole('button', { name: 'Fit View' }).click();
      const frame = await boxOf(page.getByRole('region', { name: 'Graph editor' }));
      await dragTo(page, card(page, 'b').locator('.source'), frame.x + 420, frame.y + 120);
      await palette.getByText('Connects after b').waitFor();
      await page.keyboard.type('http');
      await palette.getByRole('option', { name: 'http_request' }).waitFor();
      await page.keyboard.press('Enter');
      await card(page, 'tool_1').waitFor();

      await page.keyboard.press('/');
      const option = palette.getByRole('option', { name: 'Human gate' });
      await option.dragTo(page.getByRole('region', { name: 'Graph editor' }), {
        targetPosition: { x: 400, y: frame.height - 90 },
      });
      await card(page, 'gate_1').waitFor();
      await page.keyboard.press('Control+s');
      await page.getByText('Draft saved').waitFor();
      const { graph } = await draftOf(id);
      expect(graph.nodes.map((node: any) => node.id)).toEqual([
        ...['a', 'b', 'condition_1', 'tool_1', 'gate_1'],
      ]);
      expect(graph.nodes[3]).toMatchObject({ tool_name: 'http_request' });
      expect(graph.nodes.every((node: any) => node.position !== undefined)).toBe(true);
      expect(graph.edges).toEqual([
        { source: 'a', target: 'condition_1' },
        { source: 'condition_1', target: 'b', condition_value: 'true' },
        { source: 'b', target: 'tool_1' },
      ]);
      for (const gone of ['gate_1', 'tool_1', 'condition_1']) {
        await page.getByRole('button', { name: 'Undo' }).click();
        await card(page, gone).waitFor({ state: 'detached' });
      }
      expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true);
      await settled(visit);
    },
  );

  soakTest(
    'surrounds what a map repeats with a frame, and lays the rest out beside it',
    async () => {
      const nodes = [{ id: 'each', kind: 'map', items: 'list' }, echo('check'), echo('sum')];
      const edges = [
        edge('each', 'check', 'true'),
        edge('check', 'each'),
        edge('each', 'sum', 'false'),
      ];
      const visit = await opened(await made('Framed', { nodes, edges }));
      const { page } = visit;
      await page.getByText('For each item of each').waitFor();
      // The cards are visible when the view has been fitted; the frame is there before.
      await card(page, 'each').waitFor();
      const frame = await boxOf(page.locator('.graph-body-frame'));
      const [check, sum, each] = await Promise.all(
        ['check', 'sum', 'each'].map((id) => boxOf(card(page, id))),
      );
      expect(check!.x).toBeGreaterThan(frame.x);
      expect(check!.y + check!.height).toBeLessThan(frame.y + frame.height);
      expect(each!.x + each!.width).toBeLessThan(frame.x);
      const apart = sum!.y > frame.y + frame.height || sum!.y + sum!.height < frame.y;
      expect(apart).toBe(true);
      await settled(visit);
    },
  );

  soakTest('copies, pastes, duplicates and deletes several by keys and by the menu', async () => {
    const id = await made('Copied');
    const visit = await opened(id);
    const { page } = visit;
    await card(page, 'read').click();
    await page.keyboard.down('Shift');
    await card(page, 'answer').click();
    await page.keyboard.up('Shift');
    await page.getByText('2 nodes and 0 edges selected.').waitFor();
    await page.keyboard.press('Control+c');
    await page.keyboard.press('Control+v');
    await card(page, 'answer_2').waitFor();
    await page.keyboard.press('Control+d');
    await card(page, 'answer_3').waitFor();
    expect(await page.locator('.react-flow__edge').count()).toBe(3);

    await card(page, 'answer_3').click();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Duplicate' }).waitFor();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await card(page, 'answer_4').waitFor();
    await card(page, 'answer_4').click({ button: 'right' });
    await page.getByRole('menuitem', { name: /^Delete/ }).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('menuitem', { name: /^Delete/ }).click();
    await card(page, 'answer_4').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+s');
    await page.getByText('Draft saved').waitFor();
    const { graph } = await draftOf(id);
    expect(graph.nodes[5]).toMatchObject({ params: { expression: "read_3 + '!'" } });
    for (const gone of ['answer_3', 'answer_2']) {
      await page.getByRole('button', { name: 'Undo' }).click();
      if (gone === 'answer_3') {
        await card(page, 'answer_4').waitFor();
        await page.getByRole('button', { name: 'Undo' }).click();
        await card(page, 'answer_4').waitFor({ state: 'detached' });
        await page.getByRole('button', { name: 'Undo' }).click();
      }
      await card(page, gone).waitFor({ state: 'detached' });
    }
    expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true);
    await settled(visit);
  });
});

const card = (page: Page, id: string): Locator =>
  page.locator(`.react-flow__node[data-id="${id}"]`);

/** Runs the draft with the suggested input. */
async function runIt(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Run this draft' });
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

async function boxOf(element: Locator) {
  const box = await element.boundingBox();
  if (box === null) throw new Error('It is not drawn');
  return box;
}

async function dragTo(page: Page, from: Locator, x: number, y: number): Promise<void> {
  const start = await boxOf(from);
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
  await page.mouse.down();
  await page.mouse.move(x, y, { steps: 8 });
  await page.mouse.up();
}
