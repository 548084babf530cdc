import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { patiently } from '#test/support/patience.ts';
import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { soakTest } from '#test/support/soak.ts';
import { obstacles } from './axe.ts';
import {
  describeConsole,
  pressInDialog,
  publishDraft,
  rewrite,
  type Stage,
  type Visit,
} from './browser.ts';

const linear = {
  nodes: [
    {
      id: 'write',
      kind: 'agent',
      prompt: 'Write about {topic}',
      model: 'mock',
      mock: { output: 'done' },
    },
    { id: 'end', kind: 'merge' },
  ],
  edges: [{ source: 'write', target: 'end' }],
};

describeConsole('workflows in the console', (stage) => {
  const made = async (name: string, graph: unknown = linear): Promise<string> => {
    const { status, body } = await stage().call('POST', '/api/workflows', { name, graph });
    expect(status).toBe(201);
    return body.id;
  };
  const read = async (id: string) => (await stage().call('GET', `/api/workflows/${id}`)).body;
  const draftOf = async (id: string) =>
    (await stage().call('GET', `/api/workflows/${id}/draft`)).body;
  const settled = async ({ page, problems, context }: Visit): Promise<void> => {
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  };

  test('a card names the workflow that it runs, and Tab leads from the dialog of a run to its first field', async () => {
    const child = await made('Check the address');
    const run = { id: 'check', kind: 'workflow', workflow: child, input: {} };
    const id = await made('Ship it', { nodes: [run], edges: [] });
    const input_schema = { type: 'object', properties: { order: { type: 'string' } } };
    await stage().call('PUT', `/api/workflows/${id}`, { input_schema });
    const visit = await stage().open(`/workflows/${id}`);
    const { page } = visit;
    await page.locator('.graph-card-does').getByText('Check the address').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Run workflow' });
    await dialog.getByLabel('order').waitFor();
    await dialog.locator(':focus').waitFor({ state: 'attached' });
    await page.keyboard.press('Tab');
    await page.keyboard.type('o-1');
    expect(await dialog.getByLabel('order').inputValue()).toBe('o-1');
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL(/\/runs\//);
    const runId = page.url().split('/').at(-1)!;
    expect((await stage().call('GET', `/api/runs/${runId}`)).body.input).toEqual({ order: 'o-1' });
    await settled(visit);
  });

  test('can be listed and searched', async () => {
    const id = await made('Listed <b>one</b>');
    await made('Another');
    const visit = await stage().open('/workflows');
    const { page } = visit;
    await page.getByRole('link', { name: 'Listed <b>one</b>' }).waitFor();
    await page.getByRole('textbox', { name: 'Search' }).fill('listed');
    await page.getByRole('link', { name: 'Another' }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('q')).toBe('listed');
    await page.getByRole('link', { name: 'Listed <b>one</b>' }).click();
    await page.waitForURL(`**/workflows/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Listed <b>one</b>' }).waitFor();
    await settled(visit);
  });

  test('can be created, drawn and run with the keyboard alone', async () => {
    const visit = await stage().open('/workflows');
    const { page } = visit;
    await page.getByRole('button', { name: 'New workflow' }).focus();
    await page.keyboard.press('Enter');
    // The dialog moves the focus to its first field.
    await page.waitForFunction(() => document.activeElement?.tagName === 'INPUT');
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/edit');

    await addByKeys(page, 'Agent');
    await page.getByLabel('Prompt', { exact: true }).focus();
    await page.keyboard.type('Answer {ticket}');
    await addByKeys(page, 'Condition');
    await page.getByRole('heading', { name: 'Condition', exact: true }).waitFor();
    // A condition starts with a default expression; the typed one replaces it.
    await page.getByRole('textbox', { name: 'Expression' }).focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('len(agent_1) >');
    await page.getByRole('tab', { name: 'Check (2)' }).waitFor();
    await page.getByText('1 error').first().waitFor();

    // The key that runs it shows the list of errors instead, which leads to the field.
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: /Expression "len/ }).focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement?.classList.contains('cm-content'));
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' 3');
    // A warning remains: the condition has no outgoing edge.
    await page.getByRole('tab', { name: 'Check (1)' }).waitFor();

    await addByKeys(page, 'Merge');
    await chooseNode(page, 'agent_1');
    await page.getByLabel('Connect to').focus();
    await page.keyboard.type('merge_1');
    // Past the branch: the edge is taken on success.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    // The focused button is gone, so the focus moves to the select for the next edge.
    await page.waitForFunction(() => document.activeElement?.tagName === 'SELECT');
    await page.keyboard.press('Control+s');
    await publishDraft(page, 2);

    const id = page.url().split('/').at(-2) ?? '';
    const { graph } = await read(id);
    expect(graph.nodes.map((node: { id: string }) => node.id)).toEqual([
      ...['agent_1', 'condition_1', 'merge_1'],
    ]);
    expect(graph.nodes[0].prompt).toBe('Answer {ticket}');
    expect(graph.nodes[1].expression).toBe('len(agent_1) > 3');
    expect(graph.edges).toEqual([
      { source: 'agent_1', target: 'condition_1' },
      { source: 'condition_1', target: 'merge_1', condition_value: 'true' },
      { source: 'agent_1', target: 'merge_1' },
    ]);
    expect(await obstacles(page)).toEqual([]);

    await page.getByRole('link', { name: 'Back to workflow' }).click();
    await page.waitForURL(`**/workflows/${id}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    // The input has the key that the prompt names.
    await page.getByRole('dialog').getByText('"ticket"').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click();
    await page.waitForURL('**/runs/run_*');
    const runId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const run = await stage().engine.until(runId, ['success']);
    expect(run.input).toEqual({ ticket: '' });
    expect(visit.problems).toEqual([]);
    await visit.context.close();
  });

  soakTest('can be drawn with the mouse, with undo and redo', async () => {
    const id = await made('By mouse', {
      nodes: [
        { id: 'a', kind: 'human_gate', prompt: 'Go on?', position: { x: 0, y: 0 } },
        { id: 'b', kind: 'merge', position: { x: 400, y: 0 } },
      ],
      edges: [],
    });
    const visit = await stage().open(`/workflows/${id}/edit`);
    const { page } = visit;
    const node = (name: string) => page.locator(`.react-flow__node[data-id="${name}"]`);
    await node('a').waitFor();
    await drag(
      page,
      node('a').locator('.source[data-handleid="true"]'),
      node('b').locator('.target'),
    );
    await page.locator('.react-flow__edge').waitFor({ state: 'attached' });

    await drag(page, node('b'), node('b'), { x: 30, y: 90 });
    await node('a').click();
    await page.getByLabel('Label').fill('Ask first');
    await page.keyboard.press('Control+z');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.react-flow__edge').waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true);
    await page.getByText('Saved', { exact: true }).waitFor();
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('Control+Shift+z');

    await page.getByLabel('Branch of Ask first to b').selectOption('false');
    await node('b').click();
    await page.keyboard.press('Delete');
    await node('b').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await node('b').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await publishDraft(page, 2);

    const { graph } = await read(id);
    expect(graph.edges).toEqual([{ source: 'a', target: 'b', condition_value: 'false' }]);
    expect(graph.nodes[0].label).toBe('Ask first');
    expect(graph.nodes[1].position.y).toBeGreaterThan(20);
    await settled(visit);
  });

  soakTest('stay in sync with their JSON, and ignore invalid JSON', async () => {
    const id = await made('Both ways');
    const visit = await stage().open(`/workflows/${id}/edit`);
    const { page } = visit;
    await page.locator('.react-flow__node[data-id="write"]').waitFor();
    await page.getByRole('tab', { name: 'JSON' }).click();
    const json = page.getByRole('textbox', { name: 'Graph as JSON' });
    await json.getByText('"write"').first().waitFor();

    await json.focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' oops');
    await page.getByText(/^Invalid JSON/).waitFor();
    expect(await page.locator('.react-flow__node').count()).toBe(2);
    for (let key = 0; key < 5; key += 1) await page.keyboard.press('Backspace');
    await page.getByText(/^Invalid JSON/).waitFor({ state: 'detached' });

    await rewrite(
      json,
      JSON.stringify({ ...linear, nodes: [...linear.nodes, { id: 'extra', kind: 'agent' }] }),
    );
    await page.locator('.react-flow__node[data-id="extra"]').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.react-flow__node[data-id="extra"]').waitFor({ state: 'detached' });
    expect(await json.innerText()).not.toContain('extra');
    await settled(visit);
  });

  soakTest('warn before overwriting changes of others and before discarding edits', async () => {
    const id = await made('Contested');
    const visit = await stage().open(`/workflows/${id}/edit`);
    const { page } = visit;
    await chooseNode(page, 'write');
    await page.getByLabel('Label').fill('Mine');
    const theirs = { nodes: [{ id: 'theirs', kind: 'merge' }], edges: [] };
    await stage().call('PUT', `/api/workflows/${id}/draft`, { graph: theirs });

    await page.getByRole('link', { name: 'Back to workflow' }).click();
    await page.getByRole('button', { name: 'Stay' }).click();
    expect(page.url()).toContain('/edit');

    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const conflict = page.getByText('Someone else changed this draft');
    await conflict.waitFor();
    await page.getByText(/Owner saved it/).waitFor();
    expect((await draftOf(id)).graph).toEqual(theirs);
    expect(visit.problems.splice(0)).toEqual([expect.stringMatching(/^428: /)]);
    await page.getByRole('button', { name: 'Compare' }).click();
    const comparison = page.getByRole('dialog', { name: 'Compare with their draft' });
    for (const [node, fate] of [
      ['theirs', 'removed'],
      ['write', 'added'],
    ]) {
      await comparison.getByText(`${fate}node ${node}`).first().waitFor();
    }
    await comparison.getByRole('button', { name: 'Keep mine' }).click();
    await conflict.waitFor({ state: 'detached' });
    await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
    const mine = await draftOf(id);
    expect([mine.revision, mine.graph.nodes[0].label]).toEqual([2, 'Mine']);
    await page.getByText(/^Draft, based on version 1, saved by Owner/).waitFor();
    expect((await read(id)).version).toBe(1);

    // Another version is current before this draft is published.
    await stage().call('PUT', `/api/workflows/${id}`, { graph: theirs });
    await page.reload();
    await page.getByText('Version 2 is current now').waitFor();
    await page.getByRole('button', { name: 'Compare' }).click();
    await pressInDialog(page, 'Keep mine');
    await publishDraft(page, 3, 'Mine after all');
    expect((await read(id)).graph.nodes[0].label).toBe('Mine');
    await page.getByText('No draft yet · Live: version 3').waitFor();

    await chooseNode(page, 'write');
    await page.getByLabel('Label').fill('Again');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Discard draft' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard draft' }).click();
    await page.getByText('Draft discarded').waitFor();

    // Without unsaved changes, leaving needs no confirmation.
    await page.getByRole('link', { name: 'Back to workflow' }).click();
    await page.waitForURL(`**/workflows/${id}`);
    await settled(visit);
  });

  soakTest('have versions that can be compared and restored', async () => {
    const id = await made('Versioned');
    const changed = {
      nodes: [
        { ...linear.nodes[0], prompt: 'Sing' },
        { id: 'fin', kind: 'merge' },
      ],
      edges: [{ source: 'write', target: 'fin' }],
    };
    await stage().call('PUT', `/api/workflows/${id}`, { graph: changed });
    const visit = await stage().open(`/workflows/${id}?tab=versions`);
    const { page } = visit;
    await page.getByRole('link', { name: 'Changes from version 1 to 2' }).click();
    await page.getByRole('heading', { name: 'Version 1 to 2' }).waitFor();
    for (const [name, fate] of [
      ...[
        ['write', 'changed'],
        ['fin', 'added'],
        ['end', 'removed'],
      ],
    ] as const) {
      await page.locator(`.react-flow__node[data-id="${name}"]`).getByText(fate).waitFor();
    }
    const before = page.getByLabel('write before', { exact: true });
    expect(JSON.parse((await before.textContent()) ?? '')).toEqual({
      prompt: 'Write about {topic}',
    });

    await page.getByRole('link', { name: 'Graph of version 1', exact: true }).click();
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    const question = page.getByRole('dialog', { name: 'Roll back to version 1?' });
    await question.getByText('New runs, webhooks and schedules use it at once.').waitFor();
    await question.locator('.react-flow__node[data-id="fin"]').getByText('removed').waitFor();
    expect(await obstacles(page)).toEqual([]);
    const note = question.getByLabel('Note');
    expect(await note.inputValue()).toBe('Rolled back to version 1');
    await note.fill('Version 2 answered in the wrong language');
    await question.getByRole('button', { name: 'Roll back to version 1' }).click();
    await page.getByText('Rolled back: version 3 has the content of version 1').waitFor();
    expect((await read(id)).graph).toEqual(linear);
    await page.getByRole('button', { name: 'Roll back to version 2' }).click();
    await pressInDialog(page, 'Roll back to version 2');
    await page.getByText('Rolled back: version 4 has the content of version 2').waitFor();
    expect((await read(id)).graph).toEqual(changed);
    const rows = page.getByRole('table', { name: 'Versions of the workflow' });
    await rows.getByRole('row', { name: /Rolled back to version 2/ }).waitFor();
    await rows.getByRole('row', { name: /Version 2 answered in the wrong language/ }).waitFor();
    await settled(visit);
  });

  test('cannot be rolled back to a version without nodes', async () => {
    const { body } = await stage().call('POST', '/api/workflows', { name: 'Began empty' });
    await stage().call('PUT', `/api/workflows/${body.id}`, { graph: linear });
    const visit = await stage().open(`/workflows/${body.id}?tab=versions`);
    const { page } = visit;
    await page.getByRole('button', { name: 'Roll back to version 1' }).click();
    const question = page.getByRole('dialog', { name: 'Roll back to version 1?' });
    await question.getByText('Version 1 has no nodes').waitFor();
    const send = question.getByRole('button', { name: 'Roll back to version 1' });
    expect(await send.isDisabled()).toBe(true);
    await settled(visit);
  });

  soakTest('are started by a webhook, with the command that the page shows', async () => {
    const id = await made('Hooked');
    const visit = await stage().open(`/workflows/${id}?tab=triggers`);
    const { page } = visit;
    await page.getByRole('button', { name: 'Enable webhook' }).click();
    const command = async (): Promise<string> =>
      (await page.getByLabel('the command').first().textContent()) ?? '';
    await page.getByText('Example request:', { exact: true }).waitFor();
    const plain = await command();
    expect(await sentBy(stage(), plain)).toMatchObject({ status: 'pending' });

    await page.getByLabel('Require signatures').check();
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Example signed request:').waitFor();
    expect(await sentBy(stage(), await command())).toMatchObject({ status: 'pending' });
    expect(await sentBy(stage(), plain)).not.toHaveProperty('run_id');

    const address = page.getByLabel('the URL').first();
    const old = await address.textContent();
    await page.getByRole('button', { name: 'Change URL' }).click();
    await page.getByRole('button', { name: 'Change webhook URL' }).click();
    await page.getByText('Webhook URL changed').waitFor();
    await page.waitForFunction((text) => !document.body.textContent.includes(text), old ?? '');
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await pressInDialog(page, 'Disable webhook');
    await page.getByText('disabled', { exact: true }).waitFor();
    await settled(visit);
  });

  soakTest('have schedules that can be created, disabled, run and deleted', async () => {
    const id = await made('Clocked');
    const visit = await stage().open(`/workflows/${id}?tab=triggers`);
    const { page } = visit;
    await page.getByRole('button', { name: 'New schedule' }).click();
    const dialog = page.getByRole('dialog');
    const input = dialog.getByRole('textbox', { name: 'Input' });
    await rewrite(input, '{"topic":"tea"}');
    await dialog.getByLabel('Name').fill('Nightly');
    // A change of another field does not format the JSON.
    expect(await input.textContent()).toBe('{"topic":"tea"}');
    await dialog.getByLabel('Cron expression').fill('30 2 * * *');
    await dialog.getByLabel('Time zone').fill('Asia/Tokyo');
    await dialog.getByText('Next runs').waitFor();
    await dialog.getByText('At 02:30 (Asia/Tokyo)').waitFor();
    expect(await dialog.getByRole('listitem').count()).toBe(5);
    await dialog.getByRole('button', { name: 'Create schedule' }).click();
    await page.getByText('Schedule created').waitFor();
    const [schedule] = (await stage().call('GET', '/api/schedules')).body.filter(
      (each: { workflow_id: string }) => each.workflow_id === id,
    );
    expect(schedule).toMatchObject({
      cron: '30 2 * * *',
      timezone: 'Asia/Tokyo',
      overlap: 'skip',
      input: { topic: 'tea' },
    });

    await page.getByRole('switch', { name: 'Nightly enabled' }).click();
    await page.getByText('Schedule disabled').waitFor();
    expect(await obstacles(page)).toEqual([]);

    await page.goto(`${stage().url}/schedules`);
    await page.getByRole('link', { name: 'Clocked' }).waitFor();
    await page.getByText('At 02:30').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Actions for Nightly' }).click();
    await page.getByRole('menuitem', { name: 'Run now' }).click();
    await page.waitForURL('**/runs/run_*');
    await page.goBack();
    await page.getByRole('button', { name: 'Actions for Nightly' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete schedule', exact: true }).click();
    await page.getByText('Schedule deleted').waitFor();
    expect(visit.problems).toEqual([]);
    await visit.context.close();
  });

  soakTest('can be given checks, renamed, capped, saved as a template and deleted', async () => {
    const id = await made('Checked');
    const visit = await stage().open(`/workflows/${id}?tab=checks`);
    const { page } = visit;
    await page.getByRole('button', { name: 'Add check' }).click();
    await page.getByLabel('Expected text').fill('done');
    await page.getByRole('button', { name: 'Add check' }).click();
    const second = page.getByRole('group', { name: 'Check 2' });
    await second.getByLabel('Passes when').selectOption('max_cost_usd');
    expect(await page.getByRole('button', { name: 'Save checks' }).isDisabled()).toBe(true);
    await second.getByLabel('Maximum cost (USD)').fill('0.5');
    await page.getByRole('button', { name: 'Save checks' }).click();
    await page.getByText('Checks saved').waitFor();
    expect((await read(id)).checks).toEqual([
      { name: 'check 1', type: 'contains', value: 'done' },
      { name: 'check 2', type: 'max_cost_usd', value: 0.5 },
    ]);
    expect(await obstacles(page)).toEqual([]);

    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByLabel('Name').fill('Renamed');
    await page.getByLabel('Cost cap per run (USD)').fill('2.5');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor();
    expect(await read(id)).toMatchObject({ name: 'Renamed', run_cap_usd: 2.5, version: 1 });
    expect(await obstacles(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save as template' }).click();
    const saving = page.getByRole('dialog');
    await saving.getByLabel('Description').fill('To begin with');
    await rewrite(saving.getByRole('textbox', { name: 'Sample input' }), '{"topic": "rain"}');
    await saving.getByRole('button', { name: 'Save template' }).click();
    await page.getByRole('article', { name: 'Renamed' }).getByText('To begin with').waitFor();
    const [template] = (await stage().call('GET', '/api/templates')).body.filter(
      (each: { name: string }) => each.name === 'Renamed',
    );
    expect(template).toMatchObject({ sample_input: { topic: 'rain' }, checks: { length: 2 } });
    await page.goto(`${stage().url}/workflows/${id}?tab=settings`);
    await page.getByRole('button', { name: 'Delete workflow' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete workflow' }).click();
    await page.waitForURL('**/workflows');
    expect((await stage().call('GET', `/api/workflows/${id}`)).status).toBe(404);
    expect(visit.problems).toEqual([]);
    await visit.context.close();
  });
});

/** Adds a node of this kind with the palette, by keyboard. */
async function addByKeys(page: Page, kind: string): Promise<void> {
  await page.getByRole('button', { name: 'Add node' }).focus();
  await page.keyboard.press('Enter');
  const palette = page.getByRole('dialog', { name: 'Add a node' });
  await palette.getByRole('combobox', { name: 'Node to add' }).waitFor();
  await page.keyboard.type(kind);
  await page.keyboard.press('Enter');
  await palette.waitFor({ state: 'detached' });
  // The new card has the focus.
  await page.waitForFunction(() => document.activeElement?.matches('.react-flow__node'));
}

async function chooseNode(page: Page, id: string): Promise<void> {
  await page.getByLabel('Node', { exact: true }).selectOption(id);
  await page.getByLabel('ID', { exact: true }).waitFor();
}

/** Drags from the center of one element to the center of another, plus an offset. */
async function drag(
  page: Page,
  from: ReturnType<Page['locator']>,
  to: ReturnType<Page['locator']>,
  by = { x: 0, y: 0 },
): Promise<void> {
  const start = await from.boundingBox();
  const end = await to.boundingBox();
  if (start === null || end === null) throw new Error('Nothing to drag');
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
  await page.mouse.down();
  await page.mouse.move(end.x + end.width / 2 + by.x, end.y + end.height / 2 + by.y, { steps: 8 });
  await page.mouse.up();
}

const execute = promisify(execFile);

/** Runs a command from the page against this service, which answers from this process. Returns the response. */
async function sentBy({ url }: Stage, command: string): Promise<unknown> {
  const here = command.replace(/https?:\/\/[^/']+/, url);
  const { stdout } = await execute('sh', ['-c', here], { timeout: patiently(10_000) });
  return JSON.parse(stdout);
}
