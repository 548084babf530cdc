import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Run } from '#shared/contract/runs/run.ts';
import { createDemoData } from '#shared/seed/demo-data.ts';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';
import { echo, edge, eventually, mock } from '#test/support/engine.ts';
import { addMember } from '#test/support/people.ts';
import { obstacles } from './axe.ts';
import { describeConsole, pressInDialog, rewrite, type Stage } from './browser.ts';

/** Daily tasks of users, with the clicks and keys they need. */

const heading = (page: Page, name: string | RegExp, level = 1) =>
  page.getByRole('heading', { name, level });

const gate = (label: string) =>
  ({ id: 'ask', kind: 'human_gate', label, prompt: `${label} {draft}` }) as const;

/** Starts a run and waits until it is paused at a gate with this label. */
async function waitingRun({ engine }: Stage, label: string): Promise<string> {
  const workflowId = await engine.define(
    { nodes: [echo('draft', "'Dear Ann'"), gate(label)], edges: [edge('draft', 'ask')] },
    'Letters',
  );
  const runId = await engine.trigger(workflowId);
  await engine.until(runId, ['paused']);
  return runId;
}

const gateOf = (run: Run): string =>
  run.steps.find(({ kind }) => kind === 'human_gate')?.node_id ?? '';

/** The first words of buttons that change something. */
const changing =
  /^(add|approve|reject|refuse|resume|cancel|override|delete|remove|create|new|save|change|rename|send|publish|invite|revoke|rotate|replace|register|retry|report|restore|archive|unarchive|enable|disable|discard|use|run|edit)\b/i;

describeConsole('the console', (stage) => {
  // Empties the inbox after each test.
  afterEach(async () => {
    const { approvals } = (await stage().call('GET', '/api/approvals')).body;
    for (const { run_id: runId } of approvals) {
      await stage().call('POST', `/api/runs/${runId}/cancel`);
    }
  });

  test('takes an empty workspace from a template to an approved run', async () => {
    const { open, engine, url } = stage();
    const { page, problems } = await open('/');
    await heading(page, 'No runs yet', 2).waitFor();
    expect(await obstacles(page)).toEqual([]);
    const card = page.getByRole('article', { name: 'Support triage' });
    await card.getByRole('button', { name: 'Use and run' }).click();

    await page.waitForURL(/\/runs\/run_/);
    const runId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page.getByRole('textbox', { name: 'Reason' }).fill('a good customer');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await engine.until(runId, ['success']);
    await page.getByRole('button', { name: 'Run again' }).waitFor();
    await page.goto(`${url}/approvals/${runId}/${gateOf(await engine.run(runId))}`);
    await page.getByText(/^You approved this/).waitFor();
    await page.getByText('a good customer').waitFor();
    await page.getByRole('link', { name: 'Open run' }).click();
    await page.getByText('Success', { exact: true }).first().waitFor();
    expect(problems).toEqual([]);
  });

  test('takes a template from an order in a feed to a refund with a changed amount', async () => {
    const { open, engine, url } = stage();
    await createDemoData(engine.db, engine.actor.workspaceId);
    const { page, problems } = await open('/templates');
    const card = page.getByRole('article', { name: 'Support triage' });
    await card.getByRole('button', { name: 'Use and run' }).click();

    await page.waitForURL(/\/runs\/run_/);
    const runId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page.getByLabel('the arguments of entity_upsert').getByText('240').waitFor();
    await page.getByRole('button', { name: 'Edit arguments' }).click();
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    const { pending_gate: waiting } = await engine.run(runId);
    const { attributes, ...others } = waiting!.tool_call!.arguments as Record<string, object>;
    const half = { ...others, attributes: { ...attributes, amount_usd: 120 } };
    await rewrite(page.getByRole('textbox', { name: 'Arguments to send' }), JSON.stringify(half));
    await page.getByRole('button', { name: 'Approve with 1 change' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await engine.until(runId, ['success']);
    const steps = page.getByRole('treegrid', { name: 'Steps' });
    await steps.getByRole('row', { name: /Look up and refund/ }).click();
    const last = page.getByRole('region', { name: 'Turn 3' });
    await last.getByText('a person has decided about the refund').waitFor();
    await page.goto(`${url}/data/entities?entity_type=refund`);
    await page.getByRole('link', { name: 'Refund of order A-1042' }).click();
    await page.getByText('120').first().waitFor();
    expect(problems).toEqual([]);
  });

  let tools: ToolServer;
  beforeAll(async () => {
    tools = await startToolServer();
  });
  afterAll(() => tools.close());

  test('shows a failed run and resumes it from the failed step', async () => {
    const { open, engine } = stage();
    const nodes = [tools.node('fetch'), tools.node('book')];
    const workflowId = await engine.define({ nodes, edges: [edge('fetch', 'book')] }, 'Bookings');
    tools.answer('book', { status: 500 });
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['failed']);
    tools.answer('book', {});

    const { page } = await open('/');
    await page.getByRole('link', { name: 'View run' }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 finished step is kept').waitFor();
    await pressInDialog(page, 'Resume');
    await engine.until(runId, ['success']);
    await page.getByRole('button', { name: 'Resume' }).waitFor({ state: 'detached' });
    expect(tools.calls('fetch')).toHaveLength(1);
    expect(tools.calls('book')).toHaveLength(2);
  });

  test('shows a run stopped by its cap and continues it after an override', async () => {
    const { open, engine, call } = stage();
    const nodes = [mock('first', { cost_usd: 0.6 }), mock('second', { cost_usd: 0.1 })];
    const workflowId = await engine.define({ nodes, edges: [edge('first', 'second')] }, 'Costly');
    await call('PUT', `/api/workflows/${workflowId}`, { run_cap_usd: 0.5 });
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['failed']);

    const { page } = await open('/');
    await page.getByText('Stopped by budget').waitFor();
    await page.getByRole('link', { name: 'Costly' }).first().click();
    await page.getByRole('button', { name: 'Override budget' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('month-end close');
    await pressInDialog(page, 'Override and resume');
    expect(await engine.until(runId, ['success'])).toMatchObject({ cost_cap_usd: null });
    const act = page.getByRole('button', { name: 'Override budget' });
    await act.waitFor({ state: 'detached' });
  });

  test('approves and rejects in the inbox by keyboard alone', async () => {
    const { open, engine, call } = stage();
    const first = await waitingRun(stage(), 'First letter?');
    const second = await waitingRun(stage(), 'Second letter?');
    const third = await waitingRun(stage(), 'Third letter?');
    const { page, problems } = await open('/approvals');
    const { keyboard } = page;
    await heading(page, 'First letter?', 2).waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.getByLabel('Output of draft').getByText('Dear Ann').waitFor();

    await keyboard.press('j');
    await heading(page, 'Second letter?', 2).waitFor();
    await keyboard.press('k');
    await heading(page, 'First letter?', 2).waitFor();
    await page.getByLabel('Reason').focus();
    // Keys that are shortcuts elsewhere are text here.
    await keyboard.type('a jar, too late');
    expect(await page.getByLabel('Reason').inputValue()).toBe('a jar, too late');
    await keyboard.press('Escape');
    await keyboard.press('a');
    await heading(page, 'Second letter?', 2).waitFor();
    const undo = page.getByRole('group', { name: 'Decision not sent yet' });
    await undo.getByText('Approved: First letter?').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await keyboard.press('z');
    await heading(page, 'First letter?', 2).waitFor();
    expect(await page.getByLabel('Reason').inputValue()).toBe('a jar, too late');
    expect(await engine.run(first)).toMatchObject({ status: 'paused' });
    await keyboard.press('r');
    await keyboard.press('Control+Enter');
    await heading(page, 'Second letter?', 2).waitFor();
    // The next decision sends the one before it.
    await keyboard.press('a');
    await page.getByText('Rejected: First letter?').waitFor();
    await heading(page, 'Third letter?', 2).waitFor();
    expect(await engine.until(first, ['failed'])).toMatchObject({
      failure: { kind: 'rejected' },
      error: expect.stringContaining('too late'),
    });
    await engine.until(second, ['success']);
    expect(await engine.run(third)).toMatchObject({ status: 'paused' });
    await call('POST', `/api/runs/${third}/approve`);
    expect(problems).toEqual([]);
  });

  test('approves in the inbox with one click', async () => {
    const runId = await waitingRun(stage(), 'One click?');
    const { page, problems } = await stage().open('/approvals');
    await heading(page, 'One click?', 2).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    // The message is on the page for seconds only, from the click on.
    await page.getByText('Approved: One click?').first().waitFor();
    await stage().engine.until(runId, ['success']);
    expect(problems).toEqual([]);
  });

  test('shows that a gate was decided elsewhere', async () => {
    const { open, call } = stage();
    const runId = await waitingRun(stage(), 'Who is faster?');
    const { page } = await open(`/approvals/${runId}/ask`);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    const decided = await call('POST', `/api/runs/${runId}/approve`, { reason: 'was quicker' });
    expect(decided.status).toBe(200);
    // The page may not have noticed the decision yet.
    await page
      .getByRole('button', { name: 'Approve' })
      .click({ timeout: 2_000 })
      .catch(() => undefined);
    await page.getByText(/^You approved this/).waitFor();
    await page.getByText('was quicker').waitFor();
    await page.getByRole('alert').getByText('No longer waiting').waitFor();
  });

  test('accepts only a JSON object as decision input', async () => {
    const { open, engine } = stage();
    const runId = await waitingRun(stage(), 'Which tone?');
    const { page } = await open(`/approvals/${runId}/ask`);
    await page.getByRole('button', { name: 'Add input' }).click();
    const editor = page.getByRole('textbox', { name: 'Input' });
    await rewrite(editor, '[1]');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Enter a JSON object').waitFor();
    await rewrite(editor, '{"tone": "warm"}');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByText(/^You approved this/).waitFor();
    const run = await engine.until(runId, ['success']);
    expect(run.state).toMatchObject({ tone: 'warm' });
  });

  test('shows viewers no action or page that they cannot use', async () => {
    const { open, call, engine } = stage();
    const runId = await waitingRun(stage(), 'May I?');
    const { workflow_id: workflowId } = await engine.run(runId);
    const caller = { call } as unknown as Parameters<typeof addMember>[0];
    const { id, token } = await addMember(caller, { role: 'viewer' });
    const { page, problems } = await open('/', { token });
    await heading(page, 'Overview').waitFor();
    const pathsIn = (name: string | RegExp): Promise<string[]> =>
      page
        .getByRole('navigation', { name, exact: true })
        .getByRole('link')
        .evaluateAll((all) =>
          all.map((link) => new URL((link as HTMLAnchorElement).href).pathname),
        );
    const paths = new Set(await pathsIn('Pages'));
    for (const path of [...paths]) {
      await page.goto(stage().url + path);
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
      for (const tab of await pathsIn(/ section$/)) paths.add(tab);
    }
    expect([...paths]).toEqual(expect.arrayContaining(['/approvals', '/usage', '/data/keys']));
    const found: string[] = [];
    const deep = [
      `/runs/${runId}`,
      `/approvals/${runId}/ask`,
      `/workflows/${workflowId}`,
      `/members/${id}`,
    ];
    for (const path of [...paths, ...deep]) {
      await page.goto(stage().url + path);
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
      await eventually(async () => (await page.getByText('Loading').count()) === 0);
      const buttons = page.getByRole('main').getByRole('button');
      const names = await buttons.evaluateAll((all) =>
        all.map((button) => button.getAttribute('aria-label') ?? button.textContent.trim()),
      );
      found.push(...names.filter((name) => changing.test(name)).map((name) => `${path}: ${name}`));
    }
    expect(found).toEqual(['/account: Change password']);
    expect(problems).toEqual([]);
    await page.goto(`${stage().url}/approvals/${runId}/ask`);
    await page.getByText('You can view this gate but not decide it').waitFor();
    await page.keyboard.press('a');
    expect(await page.getByLabel('Reason').count()).toBe(0);
  });
});
