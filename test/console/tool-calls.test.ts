import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { exactJson } from '#console/src/parts/code/exact-json.ts';
import { changedFields } from '#console/src/parts/data/changed-fields.ts';
import { shortId } from '#console/src/parts/text/short-id.ts';
import { soakTest } from '#test/support/soak.ts';
import { startAgent, turnOf } from './runs/agent-runs.ts';
import { obstacles } from './axe.ts';
import { describeConsole, rewrite, type Stage } from './browser.ts';

describe('the arguments of a tool call', () => {
  test('show characters that hide or reverse others, and stay the same JSON', () => {
    const value = { 'a\u200b': 'fdp.\u202Eexe \u{E0001} é' };
    const text = exactJson(value);
    expect(text).toContain('a\\u200b');
    expect(text).toContain('fdp.\\u202eexe \\udb40\\udc01 é');
    expect(JSON.parse(text)).toEqual(value);
  });

  test('differ by field, regardless of the order of keys', () => {
    expect(
      changedFields({ a: 1, b: { c: 1, d: 2 }, e: 1 }, { b: { d: 2, c: 1 }, a: 2, f: null }),
    ).toEqual([
      { name: 'a', before: 1, after: 2 },
      { name: 'e', before: 1, after: undefined },
      { name: 'f', before: undefined, after: null },
    ]);
  });
});

describeConsole('tool calls that need approval', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  const bodiesOf = (page: Page): any[] => {
    const bodies: any[] = [];
    page.on('request', (request) => {
      const body = request.url().endsWith('/approve') ? request.postDataJSON() : undefined;
      if (body !== undefined && body.only_check !== true) bodies.push(body);
    });
    return bodies;
  };
  const form = (page: Page) => page.getByRole('form', { name: 'Decision' });
  const approve = (page: Page) => form(page).getByRole('button', { name: 'Approve' });
  const sendNow = (page: Page) => page.getByRole('button', { name: 'Send now' }).click();
  const stepsOf = async (runId: string): Promise<Record<string, any>> => {
    const { steps } = await stage.engine.run(runId);
    return Object.fromEntries(steps.map((step) => [step.step_key, step]));
  };

  test('are decided one by one with the keyboard', async () => {
    const runId = await startAgent(stage, [turnOf('20 + 1', '2 + 2'), { output: 'done' }]);
    await stage.engine.until(runId, ['paused']);
    const { page, context, problems } = await stage.open('/approvals');
    const bodies = bodiesOf(page);
    await page.getByLabel('the arguments of json_transform').getByText('20 + 1').waitFor();
    expect(new URL(page.url()).searchParams.get('step')).toBe('triage/1.1');
    expect(await obstacles(page)).toEqual([]);

    await form(page).getByLabel('Reason').fill('as agreed');
    await page.keyboard.press('Escape');
    await page.keyboard.press('a');
    // The second call of the same turn follows.
    await page.getByLabel('the arguments of json_transform').getByText('2 + 2').waitFor();
    await form(page).getByText('the tool is not called.').waitFor();
    await page.keyboard.press('r');
    await page.keyboard.press('Control+Enter');
    await sendNow(page);
    await stage.engine.until(runId, ['success']);

    const digest = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
    expect(bodies).toEqual([
      { approved: true, step_key: 'triage/1.1', digest, reason: 'as agreed' },
      { approved: false, step_key: 'triage/1.2', digest },
    ]);
    const steps = await stepsOf(runId);
    expect(steps['triage/1.1']).toMatchObject({ output: 21 });
    expect(steps['triage/1.2']).toMatchObject({ status: 'failed' });
    // Alerts link to the node, also when its calls are decided.
    await page.goto(`${stage.url}/approvals/${runId}/triage`);
    await page.getByText(/^You (approved|rejected) this/).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('can be edited on the page of their run, with the changes in view', async () => {
    const runId = await startAgent(stage, [turnOf('20 + 1'), { output: 'done' }]);
    await stage.engine.until(runId, ['paused']);
    const { page, context } = await stage.open(`/runs/${runId}`);
    const bodies = bodiesOf(page);
    await form(page).getByRole('button', { name: 'Edit arguments' }).click();
    const field = form(page).getByRole('textbox', { name: 'expression' });
    expect(await field.inputValue()).toBe('20 + 1');

    // The schema of the tool requires it.
    await field.fill('');
    await approve(page).click();
    await form(page).getByText('This field is required').waitFor();
    // Its color under the pointer needs the contrast, too.
    await approve(page).hover();
    expect(await obstacles(page)).toEqual([]);

    await form(page).getByRole('button', { name: 'Edit as JSON' }).click();
    const editor = form(page).getByRole('textbox', { name: 'Arguments to send' });
    await rewrite(editor, '[1');
    await approve(page).click();
    await form(page).getByText('Invalid JSON').first().waitFor();
    expect(bodies).toEqual([]);

    await rewrite(editor, '{"expression": "6 * 7"}');
    const changes = form(page).getByRole('status', { name: 'Changes' });
    await changes.getByText('"20 + 1"').waitFor();
    await changes.getByText('"6 * 7"').waitFor();
    await approve(page).click();
    await page.getByText('Approved with 1 change: json_transform').waitFor();
    await sendNow(page);
    await stage.engine.until(runId, ['success']);
    expect(bodies.at(-1)).toMatchObject({ arguments: { expression: '6 * 7' } });
    expect((await stepsOf(runId))['triage/1.1']).toMatchObject({ output: 42 });
    await context.close();
  });

  soakTest('stay open with the reason, when the service refuses a decision', async () => {
    const runId = await startAgent(stage, [turnOf('1', '2'), { output: 'done' }]);
    await stage.engine.until(runId, ['paused']);
    const { page, context } = await stage.open(`/approvals/${runId}/triage?step=triage%2F1.2`);
    await page.getByLabel('the arguments of json_transform').getByText('"2"').waitFor();
    await page.route('**/approve', async (route) => {
      await route.fulfill({
        status: 409,
        contentType: 'application/json',
        body: '{"detail": "The tool \'json_transform\' has changed since the call was requested"}',
      });
    });
    let reads = 0;
    page.on('request', (request) => {
      if (request.url().endsWith(`/api/runs/${runId}`)) reads += 1;
    });
    await approve(page).waitFor();
    const before = reads;
    await page.keyboard.press('a');
    await page.getByRole('alert').getByText('has changed since the call').waitFor();
    expect(reads).toBeGreaterThan(before);
    // A read may be in flight.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
    await stage.call('POST', `/api/runs/${runId}/cancel`);
  });

  soakTest('change under the eyes of an approver, who has to check the new arguments', async () => {
    const runId = await startAgent(stage, [turnOf('1'), { output: 'done' }]);
    await stage.engine.until(runId, ['paused']);
    const { page, context } = await stage.open('/runs');
    // Until the decision is sent, reads show another digest and other arguments than the ones that are open.
    let stale = true;
    await page.route('**/approve', async (route) => {
      stale = false;
      await route.continue();
    });
    await page.route(`**/api/runs/${runId}`, async (route) => {
      const response = await route.fetch();
      const run = await response.json();
      const call = run.pending_gates[0]?.tool_call;
      if (stale && call !== undefined) {
        call.digest = `sha256:${'0'.repeat(64)}`;
        call.arguments = { expression: 'stale' };
      }
      await route.fulfill({ response, json: run });
    });
    await page.getByRole('link', { name: shortId(runId) }).click();
    const shown = page.getByLabel('the arguments of json_transform');
    await shown.getByText('stale').waitFor();
    await approve(page).click();
    await page.getByRole('alert').getByText('The tool call has changed').waitFor();
    await shown.getByText('"1"').waitFor();
    await approve(page).click();
    await sendNow(page);
    await stage.engine.until(runId, ['success']);
    // A read may be in flight.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  });

  soakTest('hide their arguments from viewers', async () => {
    const runId = await startAgent(stage, [turnOf('1'), { output: 'done' }]);
    await stage.engine.until(runId, ['paused']);
    const { page, context } = await stage.open('/runs');
    await page.route('**/api/runs/*', async (route) => {
      const response = await route.fetch();
      const run = await response.json();
      run.pending_gates[0].tool_call.arguments = null;
      await route.fulfill({ response, json: run });
    });
    await page.getByRole('link', { name: shortId(runId) }).click();
    await page.getByText('You need the approve_gates permission to view the arguments.').waitFor();
    await approve(page).waitFor();
    expect(await page.getByRole('button', { name: /^Edit/ }).count()).toBe(0);
    // A read may be in flight.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
    await stage.call('POST', `/api/runs/${runId}/cancel`);
  });
});
