import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { stepsBefore } from '#console/src/pages/gates/upstream.ts';
import { wordChanges } from '#console/src/parts/text/word-changes.ts';
import { newId } from '#shared/crypto/ids.ts';
import { sql } from '#shared/db/pool.ts';
import { decideGate } from '#shared/operations/runs/runs.ts';
import { echo, edge, eventually } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { obstacles } from './axe.ts';
import { describeConsole, personOf, type Stage, placeOf } from './browser.ts';

describe('what has changed since a gate asked before', () => {
  const changesOf = (before: string, after: string) =>
    wordChanges(before, after).map(({ kind, text }) => `${kind}: ${text}`);

  test('is shown word by word', () => {
    expect(changesOf('Pay 250 to Ann?', 'Pay 80 to Ann?')).toEqual([
      'same: Pay ',
      'removed: 250 ',
      'added: 80 ',
      'same: to Ann?',
    ]);
    expect(changesOf('a b', 'a b c')).toEqual(['same: a ', 'removed: b', 'added: b c']);
    expect(changesOf('', 'new')).toEqual(['added: new']);
    expect(changesOf('same', 'same')).toEqual(['same: same']);
  });

  test('compares very long texts as a whole', () => {
    const long = 'word '.repeat(1_000);
    expect(changesOf(long, 'short')).toEqual([`removed: ${long}`, 'added: short']);
  });

  test('compares the outputs of the same iteration, even if several items of a map are open', () => {
    const graph = {
      nodes: [
        { id: 'each', kind: 'map' },
        { id: 'draft', kind: 'tool' },
        { id: 'ask', kind: 'human_gate' },
      ],
      edges: [
        { source: 'each', target: 'draft', condition_value: 'true' },
        { source: 'draft', target: 'ask' },
      ],
    };
    const steps = [1, 2].map((item) => ({
      ...{ step_key: `draft#${item}`, node_id: 'draft', status: 'success', iteration: [item] },
    })) as never;
    const keys = (iteration?: number[]) =>
      stepsBefore(graph as never, 'ask', steps, iteration).map(({ step_key }) => step_key);
    expect([keys([1]), keys([2]), keys()]).toEqual([['draft#1'], ['draft#2'], ['draft#2']]);
  });

  test('takes the list of a map that the gate follows, not its last item', () => {
    const graph = {
      nodes: [
        { id: 'each', kind: 'map' },
        { id: 'draft', kind: 'tool' },
        { id: 'ask', kind: 'human_gate' },
      ],
      edges: [
        { source: 'each', target: 'draft', condition_value: 'true' },
        { source: 'draft', target: 'each' },
        { source: 'each', target: 'ask', condition_value: 'false' },
      ],
    };
    const step = (step_key: string, node_id: string, iteration: number[]) => ({
      ...{ step_key, node_id, status: 'success', iteration },
    });
    const steps = [
      ...[1, 2].map((item) => step(`draft#${item}`, 'draft', [item])),
      step('each', 'each', []),
    ] as never;
    const keys = stepsBefore(graph as never, 'ask', steps).map(({ step_key }) => step_key);
    expect(keys).toEqual(['each']);
  });
});

describeConsole('a gate with rules and an input schema', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  /** Another member, who has already approved. */
  async function approvedByAnother(runId: string): Promise<void> {
    const { actor, db, deps } = stage.engine;
    const id = newId('member');
    await db.query(sql.type(z.object({}))`
      INSERT INTO members (id, workspace_id, name, email, role, status)
      VALUES (${id}, ${actor.workspaceId}, 'Ben', ${`${id}@example.com`}, 'editor', 'active')`);
    const ben = { ...actor, id, name: 'Ben' };
    await decideGate(deps, { actor: ben, runId, approved: true, input: { amount: 4 } });
  }

  test('is a form that shows who has approved, and where an input does not match', async () => {
    const node = {
      ...{ id: 'release', kind: 'human_gate', prompt: 'Release the payment?', required: 3 },
      ...{ timeout_seconds: 3600, on_timeout: 'reject' },
      input_schema: {
        type: 'object',
        required: ['amount'],
        properties: {
          amount: { type: 'integer', title: 'Amount', description: 'In euros', maximum: 100 },
          method: { enum: ['card', 'bank'], default: 'bank' },
          urgent: { type: 'boolean' },
        },
      },
    };
    const workflowId = await stage.engine.define({ nodes: [node as never], edges: [] });
    const runId = await stage.engine.trigger(workflowId);
    await stage.engine.until(runId, ['paused']);
    await approvedByAnother(runId);
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    const rules = page.getByRole('group', { name: 'Approval rules' });
    await rules.getByText('1 of 3 approved').waitFor();
    await rules.getByText('Approved by Ben').waitFor();
    await rules.getByText(/^Only 1 of 2 can decide this gate\. Give another member/).waitFor();
    await rules.getByText(/^Deadline in \d+ min.* then the gate is rejected\.$/).waitFor();

    const form = page.getByRole('form', { name: 'Decision' });
    await form.getByText('the run continues after 2 more approvals, including yours.').waitFor();
    await form.getByLabel('Amount').hover();
    expect(await obstacles(page)).toEqual([]);
    expect(await form.getByLabel('method').inputValue()).toBe('1');
    await form.getByRole('button', { name: 'Approve' }).click();
    await form.getByText('This field is required').waitFor();
    await form.getByLabel('Amount').fill('101');
    await form.getByRole('button', { name: 'Approve' }).click();
    await form.getByText('amount must be <= 100', { exact: true }).waitFor();
    await form.getByLabel('Amount').fill('7');
    await form.getByLabel('urgent').check();
    await form.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await rules.getByText('2 of 3 approved').waitFor();
    expect((await stage.engine.run(runId)).pending_gate?.decisions?.[1]).toMatchObject({
      input: { amount: 7, method: 'bank', urgent: true },
    });
    // The two refusals.
    expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
    await context.close();
  });

  const looping = {
    nodes: [
      { id: 'again', kind: 'loop', expression: 'true', max_iterations: 2 },
      echo('draft', 'again.iterations'),
      { id: 'ask', kind: 'human_gate', prompt: 'Send letter {draft} to Ann?' },
    ],
    edges: [edge('again', 'draft', 'true'), edge('draft', 'ask'), edge('ask', 'again')],
  };

  soakTest('shows what has changed since the gate asked before, and who decided then', async () => {
    const runId = await stage.engine.trigger(await stage.engine.define(looping as never));
    await stage.engine.until(runId, ['paused']);
    await stage.call('POST', `/api/runs/${runId}/approve`, { reason: 'warmer, please' });
    await eventually(async () => {
      const { pending_gate: gate } = await stage.engine.run(runId);
      return gate?.step_key === 'ask#2';
    });
    const { page, context, problems } = await stage.open(`/approvals/${runId}/ask`);
    const before = page.getByRole('region', { name: 'Asked before' });
    await before.getByText('warmer, please').waitFor();
    await before.getByText(/^Approved by /).waitFor();
    const changes = before.getByRole('group', { name: 'Changed since then' });
    await changes.locator('div del').first().getByText('1').waitFor();
    await changes.locator('div ins').first().getByText('2').waitFor();
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
    await stage.call('POST', `/api/runs/${runId}/cancel`);
  });

  soakTest('of each item of a map has its own page', async () => {
    const mapped = {
      nodes: [
        { id: 'each', kind: 'map', items: "['Ann', 'Bob']" },
        { id: 'ask', kind: 'human_gate', prompt: 'Write to {each.item}?' },
      ],
      edges: [edge('each', 'ask', 'true'), edge('ask', 'each')],
    };
    const runId = await stage.engine.trigger(await stage.engine.define(mapped as never));
    await eventually(async () => (await stage.engine.run(runId)).pending_gates.length === 2);
    const { page, context, problems } = await stage.open(`/approvals/${runId}/ask?step=ask%232`);
    const prompt = page.getByRole('group', { name: 'Prompt' });
    await prompt.getByText('Write to Bob?').waitFor();
    const gates = page.getByRole('navigation', { name: 'Pending approvals' }).getByRole('link');
    await gates.and(page.locator('[href*="ask%231"]')).click();
    await prompt.getByText('Write to Ann?').waitFor();
    await gates.and(page.locator('[href*="ask%232"]')).click();
    await prompt.getByText('Write to Bob?').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await eventually(async () => (await stage.engine.run(runId)).pending_gates.length === 1);
    expect((await stage.engine.run(runId)).pending_gate?.step_key).toBe('ask#1');
    expect(problems).toEqual([]);
    await context.close();
    await stage.call('POST', `/api/runs/${runId}/cancel`);
  });

  const asking = (settings: object) => ({
    nodes: [{ id: 'ask', kind: 'human_gate', prompt: 'Pay?', ...settings }],
    edges: [],
  });
  const paused = async (settings: object = {}): Promise<string> => {
    const runId = await stage.engine.trigger(await stage.engine.define(asking(settings) as never));
    await stage.engine.until(runId, ['paused']);
    return runId;
  };

  soakTest('keeps what was typed over a reload, and when someone else decides', async () => {
    const runId = await paused();
    const { page, context } = await stage.open(`/approvals/${runId}/ask`);
    await page.getByLabel('Reason').fill('because of the new offer');
    await page.reload();
    expect(await page.getByLabel('Reason').inputValue()).toBe('because of the new offer');
    await stage.call('POST', `/api/runs/${runId}/approve`, { reason: 'was quicker' });
    // The page may have noticed the decision by itself.
    await page
      .getByRole('button', { name: 'Reject' })
      .click({ timeout: 2_000 })
      .catch(() => undefined);
    await page.getByText(/^You approved this/).waitFor();
    await page.getByText('was quicker').waitFor();
    const unsent = page.getByRole('group', { name: 'Not sent' });
    await unsent.getByText('because of the new offer').waitFor();
    expect(await obstacles(page)).toEqual([]);
    await context.close();
  });

  soakTest('is decided by deadline while it is open, with nothing typed lost', async () => {
    const runId = await paused({ timeout_seconds: 6, on_timeout: 'approve' });
    const { page, context } = await stage.open(`/approvals/${runId}/ask`);
    await page.getByLabel('Reason').fill('no hurry');
    await page.getByText('Already approved').waitFor();
    await page.getByText(/^Decided at its deadline/).waitFor();
    await page.getByRole('group', { name: 'Not sent' }).getByText('no hurry').waitFor();
    await context.close();
  });

  test('can be undone, and is sent when the page is left', async () => {
    const runId = await paused();
    const { page, context, problems } = await stage.open(`/approvals/${runId}/ask`);
    await page.setViewportSize({ width: 390, height: 844 });
    const approve = page.getByRole('button', { name: 'Approve' });
    // On a busy machine the click could come after the seconds to undo.
    await page.clock.install();
    // What follows from the answer is fetched after a moment, which would not pass either.
    await page.getByRole('button', { name: 'Approve', disabled: false }).waitFor();
    await page.clock.pauseAt(Date.now() + 1_000);
    await approve.click();
    const waiting = page.getByRole('group', { name: 'Decision not sent yet' });
    await waiting.getByRole('button', { name: /^Undo/ }).click();
    await page.clock.resume();
    await approve.waitFor();
    expect((await stage.engine.run(runId)).status).toBe('paused');
    const { width } = await placeOf(approve);
    expect(width).toBeGreaterThan(120);
    const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
    expect(widths).toEqual([390, 390]);
    await approve.click();
    await waiting.waitFor();
    expect(await obstacles(page)).toEqual([]);
    await page.goto(`${stage.url}/overview-of-nothing`);
    await stage.engine.until(runId, ['success']);
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('says why the rules do not let the user decide', async () => {
    const runId = await paused({ approvers: { members: ['mem_nobody', stage.engine.actor.id] } });
    const { page, context } = await stage.open(`/approvals/${runId}/ask`);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.route('**/gates/ask', async (route) => {
      const response = await route.fetch();
      const refusal = "Gate 'ask' can only be decided by 1 named member";
      await route.fulfill({ response, json: { ...(await response.json()), refusal } });
    });
    await page.reload();
    await page.getByText(/^You cannot decide this gate\. Gate 'ask' can only be/).waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
    await stage.call('POST', `/api/runs/${runId}/cancel`);
  });

  soakTest('says that no input fits its form, and what to do', async () => {
    const runId = await paused({ input_schema: { type: 'object', properties: {} } });
    await stage.engine.db.query(sql.type(z.object({}))`
      UPDATE gates SET settings = '{"input_schema": {"required": ["a"], "additionalProperties": false}}'
      WHERE run_id = ${runId}`);
    const { page, context } = await stage.open(`/approvals/${runId}/ask`);
    await page.getByRole('alert').getByText('No input fits this form').waitFor();
    await page.getByText(/Reject the gate, correct the schema in the workflow/).waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await stage.engine.until(runId, ['failed']);
    await context.close();
  });

  soakTest('is assigned to a member, who finds it by the switch', async () => {
    const ann = await personOf(stage, { name: 'Ann', role: 'editor' });
    const node = { id: 'legal', kind: 'human_gate', prompt: 'Fine?' };
    const workflowId = await stage.engine.define({ nodes: [node as never], edges: [] });
    const runId = await stage.engine.trigger(workflowId);
    await stage.engine.until(runId, ['paused']);
    const { page, context, problems } = await stage.open(`/approvals/${runId}/legal`);
    const field = page.getByLabel('Assigned to', { exact: true });
    await field.selectOption({ label: 'Ann' });
    const list = page.getByRole('navigation', { name: 'Pending approvals' });
    await list.getByText('assigned to Ann').waitFor();
    expect(problems).toEqual([]);
    await context.close();

    const hers = await stage.open('/approvals', { token: ann.token });
    // The page selects the gate that waits longest.
    await hers.page.waitForURL(/approvals\/run_/);
    await hers.page.getByRole('switch', { name: 'Assigned to me' }).click();
    const own = hers.page.getByRole('navigation', { name: 'Pending approvals' });
    await eventually(async () => (await own.getByRole('link').count()) === 1);
    await hers.page.waitForURL(`**/approvals/${runId}/legal?mine=true`);
    expect(await obstacles(hers.page)).toEqual([]);
    await hers.page.getByLabel('Assigned to', { exact: true }).selectOption({ label: 'No one' });
    await hers.page.getByText('No approvals are assigned to you').waitFor();
    expect(hers.problems).toEqual([]);
    await hers.context.close();
  });
});
