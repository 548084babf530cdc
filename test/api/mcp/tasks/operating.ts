import { expect } from '@jest/globals';
import { eventually } from '#test/support/engine.ts';
import type { Model } from './model.ts';
import { runAs } from './people.ts';
import type { Task, World } from './world.ts';

/** Tasks about workflows and runs that are there. */

const create = async ({ call }: World, name: string, nodes: object[], edges: object[] = []) => {
  const { status, body } = await call('POST', '/api/workflows', { name, graph: { nodes, edges } });
  expect(status).toBe(201);
  return body.id as string;
};

const compute = (id: string, expression: string) => ({
  ...{ id, kind: 'tool', tool_name: 'json_transform' },
  params: { expression },
});

/** The newest run of a workflow, in full. */
async function newestRun(model: Model, filter: Record<string, unknown>) {
  const { runs } = await model.use('list_runs', { ...filter, limit: 1 });
  return model.use('get_run', { run_id: runs[0].id });
}

export const operatingTasks: Task[] = [
  {
    title: 'finds out why a run failed, mends its workflow, and continues from there',
    request: () =>
      `The last run of 'Pay a supplier' failed. Find out why, correct the draft, and run it again from the step that failed.
      Do not publish it.`,
    own: [],
    prepare: async (world) => {
      const { url } = world.outside;
      const workflow = await create(
        world,
        'Pay a supplier',
        [
          {
            id: 'invoice',
            kind: 'tool',
            tool_name: 'http_request',
            params: { url: `${url}/invoices/{number}` },
          },
          {
            ...{ id: 'transfer', kind: 'tool', tool_name: 'http_request' },
            params: {
              method: 'POST',
              url: `${url}/payments`,
              body: { amount: '{invoice.amount}' },
            },
          },
        ],
        [{ source: 'invoice', target: 'transfer' }],
      );
      await runAs(world, workflow, { input: { number: 'n80' } }, 'failed');
      return workflow;
    },
    solve: async (model) => {
      const failed = await newestRun(model, { workflow: 'Pay a supplier', status: 'failed' });
      const step = failed.steps.find((each: any) => each.status === 'failed');
      // The error names what is missing, and the output of the step before it says where that is.
      const [, missing] = /\b\w+\.(\w+)\b/.exec(step.error)!;
      const before = failed.steps.find((each: any) =>
        JSON.stringify(each.output ?? '').includes(`"${missing}"`),
      );
      const [inside] = Object.keys(before.output).filter((key) =>
        Object.hasOwn(Object(before.output[key]), missing!),
      );
      const { graph } = await model.use('get_workflow', { workflow: failed.workflow_id });
      const wrong = `{${before.node_id}.${missing}}`;
      const right = `{${before.node_id}.${inside}.${missing}}`;
      const corrected = JSON.parse(JSON.stringify(graph).replace(wrong, right));
      await model.use('save_draft', { workflow: failed.workflow_id, graph: corrected });
      const checked = await model.use('explain_validation', {
        workflow: failed.workflow_id,
        draft: true,
      });
      expect(checked.valid).toBe(true);
      const { id } = await model.use('fork_run', {
        run_id: failed.id,
        from_step: step.step_key,
        draft: true,
      });
      return id;
    },
    prove: async (runId, world, workflow) => {
      await world.engine.until(runId, ['success']);
      expect(world.outside.sent('/payments').map(({ body }) => body)).toEqual([{ amount: 80 }]);
      expect(world.outside.sent('/invoices')).toHaveLength(1);
      const { body } = await world.call('GET', `/api/workflows/${workflow}`);
      expect([body.version, body.has_draft]).toEqual([1, true]);
    },
  },
  {
    title: 'limits what a workflow costs in a day and in a run',
    request: () =>
      `Our workflow 'Research' must cost at most 1 dollar in a day, and no single run more than 50 cents.`,
    own: [],
    prepare: (world) =>
      create(
        world,
        'Research',
        [
          { id: 'read', kind: 'agent', mock: { output: 'Read', cost_usd: 0.4 } },
          { id: 'deeper', kind: 'condition', expression: 'deep' },
          { id: 'more', kind: 'agent', mock: { output: 'More', cost_usd: 0.4 } },
        ],
        [
          { source: 'read', target: 'deeper' },
          { source: 'deeper', target: 'more', condition_value: 'true' },
        ],
      ),
    solve: async (model) => {
      await model.use('create_budget', {
        workflow: 'Research',
        name: 'Research',
        window: 'day',
        limit_usd: 1,
      });
      const { id } = await model.use('update_workflow', { workflow: 'Research', run_cap_usd: 0.5 });
      return id;
    },
    prove: async (workflow, world) => {
      const deep = await runAs(world, workflow, { input: { deep: true } }, 'failed');
      expect(deep).toMatchObject({ cost_usd: 0.4, failure: { kind: 'budget' } });
      const input = { deep: false };
      await runAs(world, workflow, { input });
      await runAs(world, workflow, { input });
      const { status, body } = await world.call('POST', `/api/workflows/${workflow}/runs`, input);
      expect([status, body.detail]).toEqual([
        402,
        expect.stringContaining("Budget 'Research' exhausted"),
      ]);
    },
  },
  {
    title: 'runs it on weekdays in the morning, and pauses that',
    request: () =>
      `Run our workflow 'Weekday report' on weekdays at 8:30 in Berlin, with the input team: support. Then pause that until
      I ask for it.`,
    own: ['Europe'],
    prepare: (world) => create(world, 'Weekday report', [compute('report', 'upper(team)')]),
    solve: async (model) => {
      const made = await model.use('create_schedule', {
        workflow: 'Weekday report',
        cron: '30 8 * * 1-5',
        timezone: 'Europe/Berlin',
        input: { team: 'support' },
      });
      expect(made.next_run_at).not.toBeNull();
      const paused = await model.use('update_schedule', {
        schedule_id: made.id,
        enabled: false,
        if_match: made.etag,
      });
      expect(paused.next_run_at).toBeNull();
      return made.id;
    },
    prove: async (schedule, world) => {
      const { call, engine } = world;
      const run = await call('POST', `/api/schedules/${schedule}/trigger`);
      expect((await engine.until(run.body.id, ['success'])).output).toEqual({ report: 'SUPPORT' });
      const { body } = await call('PUT', `/api/schedules/${schedule}`, { enabled: true });
      const format = new Intl.DateTimeFormat('en-GB', {
        ...{ timeZone: 'Europe/Berlin', weekday: 'short', hour: '2-digit', minute: '2-digit' },
      });
      expect(format.format(new Date(body.next_run_at))).toMatch(
        /^(?:Mon|Tue|Wed|Thu|Fri),? 08:30$/,
      );
    },
  },
  {
    title: 'tries a change on the runs of the past, and reports what it loses',
    request: () =>
      `Our workflow 'Read letters' has one node, answer. Change its expression so that the answer ends with a full stop. It
      must still contain About: score that. Try the change on the last 50 runs, and do not publish it.`,
    own: ['says'],
    prepare: async (world) => {
      const workflow = await create(world, 'Read letters', [
        compute('answer', "'About ' + letter"),
      ]);
      for (const letter of ['tea', 'oil']) await runAs(world, workflow, { input: { letter } });
      return workflow;
    },
    solve: async (model) => {
      const { id, graph } = await model.use('get_workflow', { workflow: 'Read letters' });
      const checks = [{ name: 'says About', type: 'contains', value: 'About' }];
      await model.use('set_checks', { workflow: id, checks });
      const [node] = graph.nodes;
      const expression = `${node.params.expression} + '.'`;
      const changed = { ...graph, nodes: [{ ...node, params: { expression } }] };
      await model.use('save_draft', { workflow: id, graph: changed });
      const { id: experiment } = await model.use('start_experiment', {
        workflow: id,
        candidate: 'draft',
        runs: { last: 50 },
      });
      const read = () => model.use('get_experiment', { experiment_id: experiment });
      await eventually(async () => (await read()).status !== 'running');
      expect((await read()).summary).toMatchObject({
        changed: 2,
        failed: 0,
        checks: { lost: 0, total: 1 },
      });
      return experiment;
    },
    prove: async (experiment, world, workflow) => {
      const { body } = await world.call('GET', `/api/experiments/${experiment}`);
      expect(body).toMatchObject({ status: 'done', summary: { changed: 2, checks: { lost: 0 } } });
      const changes = body.runs.map((run: any) => run.diff.differences[0].to).sort();
      expect(changes).toEqual(['About oil.', 'About tea.']);
      expect((await world.call('GET', `/api/workflows/${workflow}`)).body.version).toBe(1);
    },
  },
  {
    title: 'runs again from a step with another value',
    request: () =>
      `Run the last run of 'Answer letters' again from the step answer on, with the tone '?', without reading the letter again.`,
    own: [],
    prepare: async (world) => {
      const workflow = await create(
        world,
        'Answer letters',
        [
          { id: 'read', kind: 'agent', mock: { output: 'About {letter}', cost_usd: 0.1 } },
          compute('answer', 'read + tone'),
        ],
        [{ source: 'read', target: 'answer' }],
      );
      return runAs(world, workflow, { input: { letter: 'tea', tone: '!' } });
    },
    solve: async (model) => {
      const run = await newestRun(model, { workflow: 'Answer letters' });
      const step = run.steps.find((each: any) => each.node_id === 'answer');
      const state = { tone: '?' };
      const { id } = await model.use('fork_run', {
        run_id: run.id,
        from_step: step.step_key,
        state,
      });
      return id;
    },
    prove: async (runId, world, first) => {
      const run = await world.engine.until(runId, ['success']);
      expect(run).toMatchObject({ output: { answer: 'About tea?' }, cost_usd: 0 });
      expect(run.steps[0]).toMatchObject({ node_id: 'read', reused_from: first.id });
    },
  },
];
