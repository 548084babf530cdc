import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { conversationOf } from '#console/src/pages/runs/conversation/turns.ts';
import { eventText } from '#console/src/pages/runs/event-texts.ts';
import { nodeStates } from '#console/src/pages/runs/node-states.ts';
import { cancelFacts, resumeFacts } from '#console/src/pages/runs/run-facts.ts';
import { rejectedGates } from '#console/src/pages/runs/steps/step-state.ts';
import { figuresOf, timelineOf } from '#console/src/pages/runs/timeline/timeline.ts';
import { stepsBefore } from '#console/src/pages/gates/upstream.ts';
import { createLiveAnswers, tokensPerSecond } from '#console/src/queries/live-answers.ts';
import { sendDeltas } from '#shared/db/agents/deltas.ts';
import { soakTest } from '#test/support/soak.ts';
import { startAgent, turnOf } from './agent-runs.ts';
import { obstacles } from '#test/console/axe.ts';
import { describeConsole, type Stage } from '#test/console/browser.ts';
import { at, event, run, step } from './run-samples.ts';

const part = (key: string, more: object = {}) =>
  step({ node_id: 'triage', step_key: key, parent_step_key: 'triage', turn: 1, ...more });
const tool_call = { tool: 'send_email', index: 1 };
const agent = step({ node_id: 'triage', finished_at: at(500), duration_ms: 500 });
const turn = part('triage/1', { finished_at: at(100) });
const call = part('triage/1.1', {
  kind: 'tool',
  label: 'send_email',
  tool_call,
  started_at: at(100),
  finished_at: at(400),
  decision: { approved: false, by: 'Ann', by_kind: 'member', at: at(300), reason: null },
  status: 'failed',
});
const after = step({ node_id: 'after', started_at: at(500), finished_at: at(600) });
const steps = [agent, turn, call, after];
const keysOf = (of: { step_key: string }[]): string[] => of.map(({ step_key }) => step_key);

describe('the turns and calls of an agent', () => {
  test('do not represent the node in the graph, in sentences and in decisions', () => {
    const graph = {
      nodes: [
        { id: 'triage', kind: 'agent' },
        { id: 'after', kind: 'human_gate' },
      ],
      edges: [{ source: 'triage', target: 'after' }],
    };
    const drawing = { nodes: [], edges: [] };
    expect(nodeStates(run(steps), drawing).latestOf('triage')).toBe(agent);
    expect(rejectedGates(run(steps))).toEqual([]);
    expect(resumeFacts(run(steps))).toMatchObject({ again: [], kept: 2 });
    const active = { ...turn, status: 'running' as const };
    expect(cancelFacts(run([agent, active]))).toMatchObject({ stopped: [], kept: 1 });
    expect(keysOf(stepsBefore(graph, 'after', steps))).toEqual(['triage']);
  });

  test('take no time in addition to the agent, which waits while all its calls do', () => {
    const { bars, parts } = timelineOf(run(steps, { finished_at: at(600) }), 0);
    expect(figuresOf(bars[0]!)).toEqual([
      { phase: 'working', ms: 100 },
      { phase: 'waiting', ms: 200 },
      { phase: 'working', ms: 200 },
    ]);
    expect(figuresOf(bars[2]!)).toEqual([
      { phase: 'waiting', ms: 200 },
      { phase: 'working', ms: 100 },
    ]);
    expect(parts).toEqual({ working: 400, waiting: 200, retrying: 0, queued: 0, idle: 0 });
  });

  test('have been waiting since their turn until they are approved and start', () => {
    const by = { by: 'Ann', by_kind: 'member' } as const;
    const decision = { approved: true, ...by, at: at(350), reason: null };
    const times = { started_at: at(360), finished_at: at(400), duration_ms: 40 };
    const approved = { ...call, ...times, decision, status: 'success' as const };
    const { bars } = timelineOf(run([agent, turn, approved], { finished_at: at(500) }), 0);
    expect(figuresOf(bars[2]!)).toEqual([
      { phase: 'waiting', ms: 250 },
      { phase: 'working', ms: 40 },
    ]);
    expect(figuresOf(bars[0]!)).toEqual([
      { phase: 'working', ms: 100 },
      { phase: 'waiting', ms: 250 },
      { phase: 'working', ms: 150 },
    ]);
  });

  test('have their own events', () => {
    const labelOf = (key: string): string => `Label of ${key}`;
    const frame = { node_id: 'triage', step_key: 'triage/1.1' };
    expect(eventText(event(1, 0, { type: 'step_completed', ...frame }), labelOf)).toEqual({
      text: 'Step succeeded',
      userText: 'Label of triage/1.1',
    });
    const turnFrame = { type: 'agent_turn', node_id: 'triage', step_key: 'triage', turn: 2 };
    expect(eventText(event(1, 0, { ...turnFrame, calls: 0 }), labelOf)).toEqual({
      text: 'Turn 2',
      userText: 'Label of triage, answered',
    });
  });

  test('are joined with their results, steps and gates', () => {
    const asked = { index: 1, step_key: 'triage/1.1', tool: 'send_email', arguments: {} };
    const refused = { ...asked, index: 2, step_key: null, refusal: 'unknown' };
    const { prompts, turns } = conversationOf(
      [
        { role: 'user', text: 'Hello' },
        {
          role: 'assistant',
          turn: 1,
          step_key: 'triage/1',
          text: '',
          calls: [{ ...asked, refusal: null }, refused],
          model: 'mock',
          usage: null,
          cost_usd: 0,
          at: at(100),
        },
        {
          role: 'tool',
          turn: 1,
          index: 2,
          step_key: null,
          tool: 'send_email',
          content: 'unknown',
          is_error: true,
        },
      ],
      run(steps),
    );
    expect(prompts).toEqual([{ role: 'user', text: 'Hello' }]);
    expect(turns[0]?.calls).toMatchObject([
      { step: { step_key: 'triage/1.1' }, result: undefined },
      { step: undefined, result: { content: 'unknown' } },
    ]);
  });

  test('arrive in pieces, and a new turn starts with an empty text', () => {
    const answers = createLiveAnswers();
    let changes = 0;
    const stop = answers.subscribe(() => (changes += 1));
    answers.add({ step_key: 'triage', turn: 1, text: 'Hel', offset: 0 });
    answers.add({ step_key: 'triage', turn: 1, text: 'lo', offset: 3 });
    expect(answers.of('triage')).toMatchObject({ turn: 1, text: 'Hello' });
    answers.add({ step_key: 'triage', turn: 2, text: 'So', offset: 0 });
    stop();
    answers.add({ step_key: 'other', turn: 1, text: 'x', offset: 0 });
    expect(answers.of('triage')).toMatchObject({ turn: 2, text: 'So' });
    expect(changes).toBe(3);
  });

  test('start again if an attempt or a model has failed', () => {
    const answers = createLiveAnswers();
    answers.add({ step_key: 'a', turn: 1, text: 'A first try', offset: 0 });
    answers.add({ step_key: 'a', turn: 1, text: 'A second', offset: 0 });
    answers.add({ step_key: 'a', turn: 1, text: ' one', offset: 8 });
    expect(answers.of('a')?.text).toBe('A second one');
    // A worker of 1.0.0 gives no offset.
    answers.add({ step_key: 'a', turn: 1, text: '.' });
    expect(answers.of('a')?.text).toBe('A second one.');
  });

  test('have a speed, which does not count the text that was there before', () => {
    let now = 0;
    const answers = createLiveAnswers(() => now);
    const speed = () => tokensPerSecond(answers.of('a')!);
    answers.add({ step_key: 'a', turn: 1, text: 'x'.repeat(4_000), offset: 0 });
    now = 500;
    answers.add({ step_key: 'a', turn: 1, text: 'x'.repeat(40), offset: 4_000 });
    expect(speed()).toBeUndefined();
    now = 2_000;
    answers.add({ step_key: 'a', turn: 1, text: 'x'.repeat(360), offset: 4_040 });
    expect(speed()).toBe(50);
  });
});

describeConsole('the page of a run with an agent', (given) => {
  let stage: Stage;
  beforeAll(() => {
    stage = given();
  });

  const detail = (page: Page) => page.getByRole('complementary', { name: 'Selected step' });

  test('shows the conversation, with its calls, its approvals and the current answer', async () => {
    const { engine, open } = stage;
    const turns = [
      { ...turnOf('20 + 1', '1 / 0'), cost_usd: 0.02 },
      turnOf('5 + 5'),
      { output: 'All <b>done</b>', cost_usd: 0.04 },
    ];
    const approval = "args.expression == '5 + 5'";
    const runId = await startAgent(stage, turns, [{ name: 'json_transform', approval }]);
    await engine.until(runId, ['paused']);
    const { page, context, problems } = await open(`/runs/${runId}?step=triage`);
    const side = detail(page);
    const turnPart = (number: number) => side.getByRole('region', { name: `Turn ${number}` });

    await side.getByText('You handle tickets').first().waitFor();
    await side.getByText('Handle <b>this</b> ticket').first().waitFor();
    // A slow machine may ask the mock model twice, which costs more.
    await turnPart(1)
      .getByText(/^mock · \$0\.0\d/)
      .waitFor();
    await turnPart(1).getByLabel('the result of json_transform').getByText('21').waitFor();
    await turnPart(1).getByText('Error').waitFor();
    await turnPart(1).getByText('division by zero').waitFor();
    // The agent waits, as its run does.
    const rows = page.getByRole('treegrid', { name: 'Steps' }).getByRole('row');
    await rows
      .filter({ hasText: /^Triage/ })
      .filter({ hasText: /Paused|Waiting/ })
      .waitFor();
    // The call is decided here, and nowhere else on the page.
    await turnPart(2).getByText('"5 + 5"').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(1);
    expect(await obstacles(page)).toEqual([]);

    await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    const key = { run_id: runId, step_key: 'triage', turn: 3, answer: 'a' };
    const said = (place: number, text: string) =>
      sendDeltas(engine.db, { deltas: [{ ...key, place, text }], ended: [] });
    await said(0, 'I am ');
    await said(5, '**think<b>ing**');
    await turnPart(3).getByText('I am think<b>ing').waitFor();
    await turnPart(3).locator('strong', { hasText: 'think<b>ing' }).waitFor();
    await turnPart(3).getByText('Answering…').waitFor();

    await turnPart(2).getByLabel('Reason').fill('looks right');
    await turnPart(2).getByRole('button', { name: 'Approve' }).click();
    await turnPart(2).getByRole('button', { name: 'Send now' }).click();
    await turnPart(3).getByText('All <b>done</b>').waitFor();
    await turnPart(3).getByText('Answering…').waitFor({ state: 'detached' });
    await turnPart(2).getByText('Reason: looks right').waitFor();
    // What has moved below the pointer can have a tooltip, which is outside of all landmarks.
    await page.mouse.move(0, 0);
    expect(await obstacles(page)).toEqual([]);
    expect(problems).toEqual([]);
    await context.close();
  });

  soakTest('lists turns and calls inside the agent, and shows its state in the graph', async () => {
    const runId = await startAgent(
      stage,
      [turnOf('20 + 1'), { output: 'done' }],
      ['json_transform'],
    );
    await stage.engine.until(runId, ['success']);
    const { page, context, problems } = await stage.open(`/runs/${runId}`);
    const rows = page.getByRole('treegrid', { name: 'Steps' }).getByRole('row');
    await rows.nth(1).getByText('2 turns').waitFor();
    const levels = rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-level')));
    expect(await levels).toEqual([null, '1', '2', '3', '2']);

    await rows.nth(3).filter({ hasText: 'json_transform' }).click();
    await detail(page).getByText('Part of the conversation of').waitFor();
    await page.getByRole('tab', { name: 'Graph' }).click();
    const node = page.locator('.react-flow__node[data-id="triage"]');
    await node.getByText('Success').waitFor();
    await detail(page).getByRole('button', { name: 'Triage' }).click();
    await detail(page).getByRole('region', { name: 'Turn 2' }).waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});
