import { newId } from '#shared/crypto/ids.ts';
import proto from '@temporalio/proto';
import { type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import {
  createConnection,
  deleteConnection,
  type NewConnection,
} from '#shared/db/connections/connections.ts';
import { wakeForAccount } from '#shared/db/waits/sign-ins.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { AppError } from '#shared/errors.ts';
import { sendEvent } from '#shared/operations/events/events.ts';
import { rerunRun } from '#shared/operations/forks/forks.ts';
import { chain, echo, edge, type Engine, eventually, mock } from '#test/support/engine.ts';
import { call, childrenOf } from '#test/support/sub-workflows.ts';

/** Waits until the run has ended like this. Returns its id. */
async function ended(engine: Engine, runId: string, as: 'success' | 'failed'): Promise<string> {
  await engine.until(runId, [as], 60_000);
  return runId;
}

/** Resumes the run each time that it has failed. */
async function failsTwice(engine: Engine, runId: string): Promise<void> {
  for (const resumes of [0, 1]) {
    await eventually(async () => {
      const run = await engine.run(runId);
      return run.status === 'failed' && run.resumed_count === resumes;
    });
    await engine.resume(runId);
  }
}

/** Six steps that end at about the same time, each followed by a condition that takes a while to compute. */
async function muchWork(engine: Engine): Promise<string> {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const runId = await engine.start(
    {
      nodes: names.flatMap((name) => [
        echo(name),
        {
          id: `is_${name}`,
          kind: 'condition' as const,
          expression: `matches(text, '(?i)(?:a[ab]{0,30}){0,5}${name}x')`,
        },
        echo(`${name}_no`),
      ]),
      edges: names.flatMap((name) => [
        edge(name, `is_${name}`),
        edge(`is_${name}`, `${name}_no`, 'false'),
      ]),
    },
    { text: 'abba'.repeat(1_000) },
  );
  return ended(engine, runId, 'success');
}

/**
 * Runs whose histories are committed and replayed. Together they cover every command of the workflow. `npm run histories:record`
 * records those that have no history.
 */
export const scenarios: Record<string, (engine: Engine) => Promise<string>> = {
  'chain-with-condition-and-merge': async (engine) => {
    const runId = await engine.start({
      nodes: [
        echo('a', '1'),
        { id: 'big', kind: 'condition', expression: 'a > 0' },
        mock('left', { output: 'l', cost_usd: 0.01 }),
        echo('right'),
        { id: 'never', kind: 'merge' },
        { id: 'join', kind: 'merge' },
      ],
      edges: [
        edge('a', 'big'),
        edge('big', 'left', 'true'),
        edge('big', 'right', 'true'),
        edge('big', 'never', 'false'),
        edge('left', 'join'),
        edge('right', 'join'),
        edge('never', 'join'),
      ],
    });
    return ended(engine, runId, 'success');
  },

  'gates-with-timeouts-and-reminders': async (engine) => {
    const timed = (id: string, on_timeout: 'approve' | 'fail', timeout_seconds: number) =>
      ({ id, kind: 'human_gate', timeout_seconds, on_timeout }) as const;
    const runId = await engine.start({
      nodes: [
        timed('late', 'approve', 1),
        { id: 'early', kind: 'human_gate', remind_seconds: 1, required: 1 },
        timed('fails', 'fail', 4),
      ],
      edges: [edge('late', 'early', 'true'), edge('early', 'fails', 'true')],
    });
    await eventually(async () => (await engine.run(runId)).pending_gate?.node_id === 'early');
    await engine.approve(runId);
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    return ended(engine, runId, 'success');
  },

  // Calls of an agent that start runs: at once, after an approval, retried with the agent, and waiting for a gate.
  'agent-with-workflows': async (engine) => {
    const schema = { type: 'object', properties: { n: {} } };
    const define = async (name: string, graph: object) => {
      const id = await engine.define(graph as never, name);
      await updateWorkflow(engine.db, engine.actor, id, { input_schema: schema });
      return `workflow:${name}`;
    };
    const asks = await define('Asks an approver', chain({ id: 'ok', kind: 'human_gate' }));
    const fails = await define('Fails once', chain(mock('a', { output: 'a', fail_times: 1 })));
    const works = await define('Works', chain(echo('a', 'n')));
    const calls = (...names: string[]) => ({
      calls: names.map((tool) => ({ tool, arguments: { n: 1 } })),
    });
    const turns = [calls(works, works, fails), calls(fails, works), calls(asks, works)];
    const runId = await engine.start({
      nodes: [
        mock(
          'a',
          { turns: [...turns, { output: 'done' }] as never },
          {
            tools: [
              ...[asks, { name: fails, on_error: 'fail' }],
              { name: works, approval: 'args.n > 1' },
            ],
          },
        ),
        { id: 'map', kind: 'map', items: '[1, 2]' },
        mock(
          'b',
          { turns: [calls(works), { output: 'done' }] as never },
          { tools: [{ name: works, approval: 'always' }] },
        ),
      ],
      edges: [edge('map', 'b', 'true'), edge('b', 'map')],
    });
    await failsTwice(engine, runId);
    const gates = async () => (await engine.run(runId)).pending_gates;
    await eventually(async () => (await gates()).length === 2);
    for (const { step_key: stepKey, tool_call } of await gates()) {
      const digest = tool_call?.digest ?? '';
      await engine.approve(runId, { stepKey, digest });
    }
    const waiting = async () =>
      (await childrenOf(engine, runId)).find(({ status }) => status === 'paused');
    await eventually(async () => (await waiting()) !== undefined);
    await engine.approve((await waiting())?.id ?? '');
    return ended(engine, runId, 'success');
  },

  // Children that end, pause, fail, are retried and resumed, beside a gate; one of them is caught.
  'sub-workflows': async (engine) => {
    const flaky = chain(mock('a', { output: 'a', fail_times: 2 }));
    await engine.define(chain({ id: 'ok', kind: 'human_gate' }), 'Asks');
    await engine.define(flaky, 'Fails twice');
    const runId = await engine.start({
      nodes: [
        call('asks', 'Asks'),
        call('fails', 'Fails twice'),
        call('retries', 'Fails twice', {
          retry: { max_attempts: 3, initial_interval_seconds: 0.01 },
        }),
        call('caught', 'Fails twice'),
        echo('handler', 'caught.error.kind'),
        { id: 'own', kind: 'human_gate' },
        { id: 'join', kind: 'merge' },
      ],
      edges: [
        edge('caught', 'handler', 'error'),
        edge('asks', 'join'),
        edge('fails', 'join'),
        edge('own', 'join'),
      ],
    });
    await failsTwice(engine, runId);
    await engine.until(runId, ['paused']);
    const children = await childrenOf(engine, runId);
    const asks = children.find((child) => child.parent_step_key === 'asks');
    await engine.approve(asks?.id ?? '');
    await eventually(async () =>
      (await engine.run(runId)).steps.some(
        ({ step_key, status }) => step_key === 'asks' && status === 'success',
      ),
    );
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    return ended(engine, runId, 'success');
  },

  'rehearsal-that-is-resumed': async (engine) => {
    const { actor } = engine;
    const graph = (word: string) => ({
      nodes: [
        { id: 'items', kind: 'map' as const, items: 'list', on_item_error: 'collect' as const },
        echo('each', 'items.item.n / items.item.n'),
        { id: 'nap', kind: 'tool' as const, tool_name: 'delay', params: { seconds: 0 } },
        echo('word', word),
        { id: 'ok', kind: 'human_gate' as const, prompt: 'Go on?' },
        mock('ask', { output: 'ok' }, { prompt: 'Hi' }),
        mock('other', { output: 'ok' }, { prompt: 'Hello' }),
        echo('short', '1 / (len(word) - 3)'),
        echo('shorter', '2 / (len(word) - 3)'),
      ],
      edges: [
        edge('ask', 'short'),
        edge('other', 'shorter'),
        edge('items', 'each', 'true'),
        edge('each', 'items'),
        edge('items', 'nap', 'false'),
        edge('nap', 'word'),
        edge('word', 'ok'),
        edge('ok', 'ask', 'true'),
        edge('ok', 'other', 'true'),
      ],
    });
    const workflowId = await engine.define(graph("'a' + 'b'"));
    const sourceId = await engine.trigger(workflowId, { list: [{ n: 1 }, {}, { n: 3 }] });
    await engine.until(sourceId, ['paused']);
    await engine.approve(sourceId);
    await engine.until(sourceId, ['success']);
    await updateWorkflow(engine.db, actor, workflowId, { graph: graph("'abc'") as never });
    const { runId } = await rerunRun(engine.deps, {
      ...{ actor, runId: sourceId, trigger: 'manual', version: 2, mode: 'recorded' },
    });
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    return ended(engine, runId, 'failed');
  },

  'loop-with-gate': async (engine) => {
    const runId = await engine.start({
      nodes: [
        { id: 'loop', kind: 'loop', expression: 'true', max_iterations: 2 },
        echo('draft', 'loop.iterations'),
        { id: 'review', kind: 'human_gate', prompt: 'Round {loop.iterations}: {draft}' },
        echo('end'),
      ],
      edges: [
        edge('loop', 'draft', 'true'),
        edge('draft', 'review'),
        edge('review', 'loop'),
        edge('loop', 'end'),
      ],
    });
    for (const round of [1, 2]) {
      await eventually(
        async () => (await engine.run(runId)).pending_gate?.step_key === `review#${round}`,
      );
      await engine.approve(runId);
    }
    return ended(engine, runId, 'success');
  },

  'failed-and-resumed': async (engine) => {
    const runId = await engine.start({
      nodes: [
        echo('a'),
        mock(
          'b',
          { fail_times: 3, output: 'ok' },
          { retry: { max_attempts: 2, initial_interval_seconds: 0.05 } },
        ),
        echo('c'),
      ],
      edges: [edge('a', 'b'), edge('a', 'c')],
    });
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    return ended(engine, runId, 'success');
  },

  'rejected-asked-again-and-rejected-on-a-branch': async (engine) => {
    const runId = await engine.start({
      nodes: [
        { id: 'hard', kind: 'human_gate' },
        { id: 'soft', kind: 'human_gate' },
        echo('yes'),
        echo('no'),
      ],
      edges: [edge('hard', 'soft'), edge('soft', 'yes', 'true'), edge('soft', 'no', 'false')],
    });
    const decide = async (nodeId: string, approved: boolean) => {
      await eventually(async () => (await engine.run(runId)).pending_gate?.node_id === nodeId);
      await engine.decide(runId, { approved });
    };
    await decide('hard', false);
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    await decide('hard', true);
    await decide('soft', false);
    return ended(engine, runId, 'success');
  },

  'rejected-with-a-reason-and-approved-with-another': async (engine) => {
    const runId = await engine.start(chain({ id: 'gate', kind: 'human_gate' }, echo('end')));
    const decide = async (approved: boolean, reason: string) => {
      await engine.until(runId, ['paused']);
      await engine.decide(runId, { approved, reason });
    };
    await decide(false, 'too early');
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    await decide(true, 'as agreed');
    return ended(engine, runId, 'success');
  },

  'delay-then-cancelled-then-resumed': async (engine) => {
    const runId = await engine.start(
      chain(
        echo('a'),
        { id: 'wait', kind: 'tool', tool_name: 'delay', params: { seconds: 1 } },
        { id: 'gate', kind: 'human_gate' },
      ),
    );
    await engine.until(runId, ['paused']);
    await engine.cancel(runId);
    await engine.resume(runId);
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    return ended(engine, runId, 'success');
  },

  'templates-and-conditions-that-fail': async (engine) => {
    const runId = await engine.start(
      {
        nodes: [
          { id: 'gate', kind: 'human_gate' },
          { id: 'bad', kind: 'condition', expression: 'n / 0 > 1' },
          mock('missing', {}, { prompt: 'Hello {nobody}' }),
        ],
        edges: [edge('gate', 'bad'), edge('gate', 'missing')],
      },
      { n: 1 },
    );
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    return ended(engine, runId, 'failed');
  },

  'conditions-with-much-work': muchWork,

  // Short steps end in any order, some in parallel with long ones, some only in the long lane.
  'chains-of-short-and-long-steps': async (engine) => {
    const chains = Array.from({ length: 12 }, (_, n) => n);
    const middle = (n: number) => {
      if (n % 4 === 0) return mock(`b${n}`, { output: n, delay_ms: 20 });
      if (n % 4 === 1) {
        return mock(
          `b${n}`,
          { output: n, fail_times: 1 },
          { retry: { max_attempts: 2, initial_interval_seconds: 0.02 } },
        );
      }
      return echo(`b${n}`, `a${n}`);
    };
    const runId = await engine.start(
      {
        nodes: chains.flatMap((n) => [
          n % 3 === 0 ? mock(`a${n}`, { output: n }) : echo(`a${n}`, `len(text) + ${n}`),
          middle(n),
          echo(`c${n}`, `b${n}`),
          { id: `d${n}`, kind: 'condition' as const, expression: `c${n} > 5` },
          echo(`e${n}`),
        ]),
        edges: chains.flatMap((n) => [
          edge(`a${n}`, `b${n}`),
          edge(`b${n}`, `c${n}`),
          edge(`c${n}`, `d${n}`),
          edge(`d${n}`, `e${n}`, 'true'),
        ]),
      },
      { text: 'abba'.repeat(100) },
    );
    return ended(engine, runId, 'success');
  },

  // Turns and calls in both lanes, an approved and a rejected call, a cancel and a resume in between.
  'agent-with-tools': async (engine) => {
    const json = (expression: string) => ({ tool: 'json_transform', arguments: { expression } });
    const runId = await engine.start(
      {
        nodes: [
          {
            id: 'agent',
            kind: 'agent',
            prompt: 'Handle {ticket}',
            tools: [{ name: 'json_transform', approval: 'contains(args.expression, limit)' }],
            mock: {
              turns: [
                { calls: [json('1'), json('2'), json("'ask' + 1")] },
                { calls: [json('3'), json("'ask'")] },
                { output: 'done' },
              ],
            },
          },
          {
            id: 'slow',
            kind: 'agent',
            tools: ['json_transform'],
            mock: { delay_ms: 20, turns: [{ calls: [json('4')] }] },
          },
          echo('after', 'agent'),
        ],
        edges: [edge('agent', 'after')],
      },
      { ticket: 'x', limit: 'ask' },
    );
    const decide = async (approved: boolean) => {
      const { pending_gate: gate } = await engine.until(runId, ['paused']);
      const { digest } = gate?.tool_call ?? {};
      await engine.decide(runId, { approved, digest });
    };
    await decide(true);
    await engine.until(runId, ['paused']);
    await engine.cancel(runId);
    await eventually(async () => {
      const { status } = await engine.deps.temporal.client.workflow.getHandle(runId).describe();
      return status.name !== 'RUNNING';
    });
    await engine.resume(runId);
    await decide(false);
    return ended(engine, runId, 'success');
  },

  // Caught errors of both lanes, of a rejection and of a template, then an error that nothing catches.
  'caught-errors': async (engine) => {
    const runId = await engine.start({
      nodes: [
        mock('short', { fail_times: 1 }),
        mock('long', { fail_times: 1, delay_ms: 1 }),
        mock('missing', {}, { prompt: 'Hello {nobody}' }),
        { id: 'gate', kind: 'human_gate' },
        echo('plain'),
        mock('uncaught', { fail_times: 1, output: '{short.error.kind}' }),
      ],
      edges: [
        edge('short', 'plain'),
        edge('long', 'plain'),
        edge('short', 'gate', 'error'),
        edge('long', 'gate', 'error'),
        edge('missing', 'gate', 'error'),
        edge('gate', 'uncaught', 'error'),
      ],
    });
    await engine.until(runId, ['paused']);
    await engine.decide(runId, { approved: false });
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    return ended(engine, runId, 'success');
  },

  // Items of both lanes, with failures and a gate; it continues as new.
  'map-of-many-items': async (engine) => {
    const list = Array.from({ length: 200 }, (_, at) => at);
    const runId = await engine.start(
      {
        nodes: [
          { id: 'map', kind: 'map', items: 'list', concurrency: 15, on_item_error: 'collect' },
          echo('short', 'map.item * 2'),
          { id: 'some', kind: 'condition', expression: 'map.item % 7 == 3' },
          mock('long', { output: '{short}', delay_ms: 1 }),
          { id: 'asks', kind: 'condition', expression: 'map.item == 151' },
          { id: 'gate', kind: 'human_gate' },
          mock('fails', {}, { prompt: '{nothing}' }),
        ],
        edges: [
          edge('map', 'short', 'true'),
          edge('short', 'some'),
          edge('some', 'long', 'true'),
          edge('some', 'asks', 'false'),
          edge('asks', 'gate', 'true'),
          edge('gate', 'fails', 'true'),
          edge('asks', 'map', 'false'),
          edge('long', 'map'),
          edge('fails', 'map'),
        ],
      },
      { list },
    );
    await engine.until(runId, ['paused'], 60_000);
    await engine.approve(runId);
    return ended(engine, runId, 'success');
  },

  // One of them fails the run while the checks of the others end.
  'gates-whose-deadlines-come-together': async (engine) => {
    const gate = (id: string, on_timeout: 'fail' | 'approve') =>
      ({ id, kind: 'human_gate', timeout_seconds: 2, on_timeout }) as const;
    const nodes = [gate('first', 'fail'), gate('second', 'fail'), gate('third', 'approve')];
    const runId = await engine.start({ nodes, edges: [] });
    // On a busy machine, the deadlines can come before the decision: then the gates open once more.
    const resumeAndApprove = async (nodeId: string): Promise<void> => {
      await engine.until(runId, ['failed']);
      await engine.resume(runId);
      await engine.until(runId, ['paused']);
      await engine.approve(runId, { nodeId }).catch((error: unknown) => {
        if (!(error instanceof AppError && error.code === 'conflict')) throw error;
        return resumeAndApprove(nodeId);
      });
    };
    // Its timer is canceled, and the other ones fire.
    await resumeAndApprove('first');
    await resumeAndApprove('second');
    return ended(engine, runId, 'success');
  },

  // Takes longer than one workflow task allows for short steps.
  'loop-of-many-short-steps': async (engine) => {
    const runId = await engine.start({
      nodes: [
        { id: 'loop', kind: 'loop', expression: 'true', max_iterations: 60 },
        echo('step', 'loop.iterations'),
        mock('note', { output: '{step}' }),
      ],
      edges: [edge('loop', 'step', 'true'), edge('step', 'note'), edge('note', 'loop')],
    });
    return ended(engine, runId, 'success');
  },

  // Waits for a time and an event, alone and beside work, whose runs rest several times.
  'waits-beside-work': async (engine) => {
    const wait = (id: string, fields: object) => ({ id, kind: 'wait', ...fields }) as never;
    const runId = await engine.start({
      nodes: [
        wait('soon', { seconds: 0.3 }),
        wait('paid', { event: { name: 'invoice.paid' } }),
        mock('m', { delay_ms: 800 }),
        echo('last', 'paid'),
      ],
      edges: [edge('soon', 'm'), edge('paid', 'last')],
    });
    await eventually(async () => {
      const { steps } = await engine.run(runId);
      return steps.some(({ step_key: key, status }) => key === 'm' && status === 'success');
    });
    await sendEvent(engine.deps, {
      ...{
        workspaceId: engine.actor.workspaceId,
        name: 'invoice.paid',
        data: 1,
        givenId: undefined,
        source: 'api',
      },
      by: { id: engine.actor.id, name: engine.actor.name },
    });
    return ended(engine, runId, 'success');
  },

  // Steps that wait for a free call, are woken, wait again behind another, and begin without a limit.
  'steps-that-wait-for-calls': async (engine) => {
    const set = (limits: Policies['limits']) =>
      replacePolicies(engine.db, engine.actor, { ...unrestricted, limits });
    const feeds = (id: string) =>
      ({ id, kind: 'tool', tool_name: 'feed_list', params: {} }) as const;
    try {
      await set([{ tools: ['feed_list'], per_minute: 1 }]);
      const runId = await engine.start({
        nodes: [feeds('a'), feeds('b'), feeds('c'), echo('d')],
        edges: [edge('a', 'd')],
      });
      const waiting = async () => (await engine.run(runId)).waiting.length;
      await eventually(async () => (await waiting()) === 2);
      await set([{ tools: ['feed_list'], per_minute: 2 }]);
      await eventually(async () => (await waiting()) === 1);
      await set([]);
      return await ended(engine, runId, 'success');
    } finally {
      await set([]);
    }
  },

  // A step that waits for a sign-in, waits again after one that did not help, beside a gate, and fails with an error edge.
  'step-that-waits-for-a-sign-in': async (engine) => {
    const { actor, db } = engine;
    const connectionId = newId('connection');
    await createConnection(db, actor, connectionId, CONNECTION);
    const { workspaceId } = actor;
    try {
      const runId = await engine.start({
        nodes: [
          {
            id: 'ask',
            kind: 'tool',
            tool_name: 'http_request',
            params: {
              url: 'http://127.0.0.1:1/',
              headers: { Authorization: '{connections.MAIL}' },
            },
          },
          { id: 'gate', kind: 'human_gate', prompt: 'Go on?' },
          echo('last'),
        ],
        edges: [edge('ask', 'last', 'error')],
      });
      const waits = () =>
        eventually(async () => {
          const { status, waiting } = await engine.run(runId);
          return status === 'paused' && waiting.length === 1;
        });
      await waits();
      await db.transaction((tx) => wakeForAccount(tx, { workspaceId, connectionId }));
      await eventually(async () => (await engine.run(runId)).steps[0]?.attempt === 2);
      await waits();
      await engine.approve(runId, { nodeId: 'gate' });
      await engine.until(runId, ['running']);
      await engine.decide(runId, { approved: false, nodeId: 'ask' });
      return await ended(engine, runId, 'success');
    } finally {
      await deleteConnection(db, actor, connectionId);
    }
  },
};

/** A connection to a service that no step reaches. */
const CONNECTION: NewConnection = {
  ...{ name: 'MAIL', preset: null, grant: 'authorization_code', owner: 'member', issuer: null },
  ...{ names_issuer: false, authorization_url: 'http://127.0.0.1:1/', client_id: 'client' },
  ...{ token_url: 'http://127.0.0.1:1/', client_auth: 'none', scopes: [] },
  ...{ authorization_params: {}, allowed_hosts: ['127.0.0.1:1'] },
  ...{ sealed_client_secret: null, resource: null },
};

/** The whole history of a run's newest execution, once it has closed. */
export async function fetchHistory(engine: Engine, runId: string) {
  await eventually(async () => {
    const { status } = await engine.deps.temporal.client.workflow.getHandle(runId).describe();
    return status.name !== 'RUNNING';
  });
  return engine.deps.temporal.client.workflow.getHandle(runId).fetchHistory();
}

type History = Awaited<ReturnType<typeof fetchHistory>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** The local activity whose result is in the event, and its number among those of the execution. */
export function resultIn({ markerRecordedEventAttributes: marker }: HistoryEvent) {
  const data = marker?.details?.['data']?.payloads?.[0];
  const text =
    data?.data === undefined || data.data === null ? '{}' : Buffer.from(data.data).toString();
  return { data, ...(JSON.parse(text) as { activity_type?: string; seq?: number }) };
}

/** The history, a line per event: its type, and the local activity or the signal that it is about. */
export const outlineOf = ({ events }: History): string =>
  (events ?? [])
    .map((event) => {
      const type = proto.temporal.api.enums.v1.EventType[event.eventType ?? 0];
      const { activity_type: activity = '', seq = '' } = resultIn(event);
      const signal = event.workflowExecutionSignaledEventAttributes?.signalName ?? '';
      return [event.eventId, type, activity, seq, signal].join(' ').trimEnd();
    })
    .join('\n');
