import { expect } from '@jest/globals';
import { runAs } from './people.ts';
import type { Task } from './world.ts';

/** Tasks about what the steps of a workflow do. */

export const stepTasks: Task[] = [
  {
    title: 'looks up each item of a list, five at a time',
    request: ({ outside }) =>
      `Build a workflow that GETs ${outside.url}/slowly/<company> for each of the companies of a run, five at a time. The
      result is the list of the id in each answer.`,
    own: ['each_one', 'find_it', 'only_id'],
    solve: async (model, { url }) => {
      await model.read('docs://skill');
      const { id } = await model.use('create_workflow', {
        name: 'Look up companies',
        graph: {
          nodes: [
            { id: 'each_one', kind: 'map', items: 'companies', concurrency: 5 },
            {
              id: 'find_it',
              kind: 'tool',
              tool_name: 'http_request',
              params: { url: `${url}/slowly/{each_one.item}` },
            },
            {
              id: 'only_id',
              kind: 'tool',
              tool_name: 'json_transform',
              params: { expression: 'find_it.body.id' },
            },
          ],
          edges: [
            { source: 'each_one', target: 'find_it', condition_value: 'true' },
            { source: 'find_it', target: 'only_id' },
            { source: 'only_id', target: 'each_one' },
          ],
        },
      });
      expect(await model.use('explain_validation', { workflow: id })).toMatchObject({
        valid: true,
      });
      return id;
    },
    prove: async (workflow, world) => {
      const companies = Array.from({ length: 12 }, (_, at) => `c${at}`);
      const { output } = await runAs(world, workflow, { input: { companies } });
      expect(output).toEqual({ each_one: companies });
      expect(world.outside.sent('/slowly')).toHaveLength(12);
      expect(world.outside.mostAtOnce()).toBeGreaterThan(1);
      expect(world.outside.mostAtOnce()).toBeLessThanOrEqual(5);
    },
  },
  {
    title: 'tries again with longer pauses, after the first graph had other words for it',
    request: ({ outside }) =>
      `Build a workflow that GETs ${outside.url}/shaky/a. If that fails, try again, at most four attempts, first after a
      tenth of a second, then after twice as long each time.`,
    own: ['ask_them'],
    solve: async (model, { url }) => {
      await model.read('docs://skill');
      const graph = {
        nodes: [
          {
            id: 'ask_them',
            kind: 'tool',
            tool_name: 'http',
            params: { url: `${url}/shaky/a` },
            retry: { attempts: 4, interval: 0.1, factor: 2 },
          },
        ],
        edges: [],
      };
      return model.mend({ name: 'Try again', graph }, ({ problems, schemas }, drawn) => {
        const [node] = drawn.nodes;
        for (const { code, path = '', value, schema = '', choices = [] } of problems) {
          if (code === 'unknown_tool') {
            node.tool_name = choices.find((name) => name.startsWith(value));
          } else if (code === 'unknown_key') {
            const wrong = path.split('.').at(-1)!;
            const keys = Object.keys(schemas[schema].properties);
            const right =
              keys.find((key) => key.includes(wrong)) ?? keys.find((key) => !key.includes('_'));
            node.retry[right!] = value;
            delete node.retry[wrong];
          }
        }
        return drawn;
      });
    },
    prove: async (workflow, world) => {
      const run = await runAs(world, workflow, { draft: true });
      expect(world.outside.sent('/shaky')).toHaveLength(3);
      const [step] = run.steps;
      expect(step).toMatchObject({ attempt: 3, output: { body: { ok: true } } });
      expect(run.graph).toMatchObject({
        nodes: [{ retry: { max_attempts: 4, initial_interval_seconds: 0.1, backoff: 2 } }],
      });
    },
  },
  {
    title: 'sends a stored key in a header, after the first graph had it in the address',
    request: ({ outside }) =>
      `Build a workflow that GETs ${outside.url}/crm with our key of the CRM in the header X-Key, and returns its answer.`,
    own: ['ask_crm'],
    prepare: ({ call, outside }) =>
      call('PUT', '/api/secrets/CRM_ACCESS', {
        value: 'a-secret-value-0123',
        allowed_hosts: [new URL(outside.url).host],
      }),
    solve: async (model, { url }) => {
      await model.read('docs://skill');
      const { secrets } = await model.use('list_secrets');
      const key = `{secrets.${secrets[0].name}}`;
      const graph = {
        nodes: [
          {
            id: 'ask_crm',
            kind: 'tool',
            tool_name: 'http_request',
            params: { url: `${url}/crm?key=${key}` },
          },
        ],
        edges: [],
      };
      return model.mend({ name: 'Ask the CRM', graph }, ({ problems }, drawn) => {
        const [, place] = /move it to (\w+), /.exec(problems[0]!.message)!;
        drawn.nodes[0].params = { url: `${url}/crm`, [place!]: { 'X-Key': key } };
        return drawn;
      });
    },
    prove: async (workflow, world) => {
      const run = await runAs(world, workflow, { draft: true });
      expect(world.outside.sent('/crm')[0]!.headers['x-key']).toBe('a-secret-value-0123');
      expect(JSON.stringify(run)).not.toContain('a-secret-value');
    },
  },
  {
    title: 'repeats until it is good enough, after the first graph was a circle',
    request: ({ outside }) =>
      `Build a workflow that GETs ${outside.url}/essays/1 until the mark in its answer is above 8, at most five times. The
      result is the mark.`,
    own: ['again', 'rate_it', 'final_mark'],
    solve: async (model, { url }) => {
      await model.read('docs://skill');
      const rate = {
        id: 'rate_it',
        kind: 'tool',
        tool_name: 'http_request',
        params: { url: `${url}/essays/1` },
      };
      const last = {
        id: 'final_mark',
        kind: 'tool',
        tool_name: 'json_transform',
        params: { expression: 'rate_it.body.mark' },
      };
      const graph = {
        nodes: [
          rate,
          { id: 'again', kind: 'condition', expression: 'rate_it.body.mark <= 8' },
          last,
        ],
        edges: [
          { source: 'rate_it', target: 'again' },
          { source: 'again', target: 'rate_it', condition_value: 'true' },
          { source: 'again', target: 'final_mark', condition_value: 'false' },
        ],
      };
      return model.mend({ name: 'Good enough', graph }, async ({ problems }) => {
        const { message, guide } = problems.find(({ code }) => code === 'cycle')!;
        await model.read(guide);
        const [, kind] = /only a (\w+) or map/.exec(message)!;
        return {
          nodes: [
            {
              id: 'again',
              kind,
              expression: 'default(rate_it.body.mark, 0) <= 8',
              max_iterations: 5,
            },
            rate,
            last,
          ],
          edges: [
            { source: 'again', target: 'rate_it', condition_value: 'true' },
            { source: 'rate_it', target: 'again' },
            { source: 'again', target: 'final_mark' },
          ],
        };
      });
    },
    prove: async (workflow, world) => {
      expect((await runAs(world, workflow, { draft: true })).output).toEqual({ final_mark: 9 });
      expect(world.outside.sent('/essays')).toHaveLength(3);
    },
  },
  {
    title: 'accepts only an amount and a currency, after its first schema was none',
    request: () =>
      `Build a workflow that takes an amount, a number above zero, and a currency, EUR or USD, and nothing else. The result
      is a tenth of the amount. It must refuse everything else before it starts.`,
    own: ['tenth'],
    solve: async (model) => {
      await model.read('docs://skill');
      const graph = {
        nodes: [
          {
            id: 'tenth',
            kind: 'tool',
            tool_name: 'json_transform',
            params: { expression: 'amount / 10' },
          },
        ],
        edges: [],
      };
      const currency = { enum: ['EUR', 'USD'] };
      const wrong = { type: 'object', properties: { amount: { type: 'num' } } };
      await model.read('docs://typed-input');
      const refusal = await model.guess('create_workflow', {
        name: 'A tenth',
        graph,
        input_schema: wrong,
      });
      const type = /\(([a-z, ]+)\)/
        .exec(refusal)![1]!
        .split(', ')
        .find((name) => name.startsWith('num'));
      const { id } = await model.use('create_workflow', {
        name: 'A tenth',
        graph,
        input_schema: {
          type: 'object',
          properties: { amount: { type, exclusiveMinimum: 0 }, currency },
          required: ['amount', 'currency'],
          additionalProperties: false,
        },
      });
      return id;
    },
    prove: async (workflow, world) => {
      const input = { amount: 50, currency: 'EUR' };
      expect((await runAs(world, workflow, { input })).output).toEqual({ tenth: 5 });
      for (const wrong of [{ amount: 0 }, { currency: 'CHF' }, { amount: 'x' }, { more: 1 }]) {
        const { status } = await world.call('POST', `/api/workflows/${workflow}/runs`, {
          ...input,
          ...wrong,
        });
        expect([wrong, status]).toEqual([wrong, 400]);
      }
    },
  },
  {
    title: 'runs another workflow for each lead',
    request: () =>
      `Build a workflow that runs our workflow 'Score a lead' for each company of the companies of a run, and returns the
      list of its results.`,
    own: ['all_leads', 'one_lead'],
    prepare: ({ call }) =>
      call('POST', '/api/workflows', {
        name: 'Score a lead',
        input_schema: {
          type: 'object',
          properties: { company: { type: 'string' } },
          required: ['company'],
        },
        graph: {
          nodes: [
            {
              id: 'score',
              kind: 'tool',
              tool_name: 'json_transform',
              params: { expression: 'upper(company)' },
            },
          ],
          edges: [],
        },
      }),
    solve: async (model) => {
      await model.read('docs://skill');
      const { workflows } = await model.use('list_workflows', { search: 'Score a lead' });
      const [field] = Object.keys(workflows[0].input_schema.properties);
      await model.read('docs://sub-workflows');
      const { id } = await model.use('create_workflow', {
        name: 'Score leads',
        graph: {
          nodes: [
            { id: 'all_leads', kind: 'map', items: 'companies' },
            {
              id: 'one_lead',
              kind: 'workflow',
              workflow: 'Score a lead',
              input: { [field!]: '{all_leads.item}' },
            },
          ],
          edges: [
            { source: 'all_leads', target: 'one_lead', condition_value: 'true' },
            { source: 'one_lead', target: 'all_leads' },
          ],
        },
      });
      expect(await model.use('explain_validation', { workflow: id })).toMatchObject({
        valid: true,
      });
      return id;
    },
    prove: async (workflow, world) => {
      const { id, output } = await runAs(world, workflow, {
        input: { companies: ['acme', 'globex'] },
      });
      expect(output).toEqual({ all_leads: [{ score: 'ACME' }, { score: 'GLOBEX' }] });
      const { body } = await world.call('GET', `/api/runs?parent_run_id=${id}`);
      expect(body.runs).toHaveLength(2);
    },
  },
];
