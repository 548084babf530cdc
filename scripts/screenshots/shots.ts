import type { Page } from 'playwright-core';
import type { Client } from '#client/index.ts';

/** A page to capture. */
export interface Shot {
  name: string;
  path: string;
  /** Whether it is in the documents, too. */
  documented?: boolean;
  /** What to do on the page first, such as to open a dialog. */
  act?: (page: Page) => Promise<unknown>;
}

const part = (shot: Shot | false | undefined): Shot[] => (shot ? [shot] : []);

/** Presses the first button or tab of this name, if the page has one. */
const press =
  (name: string) =>
  async (page: Page): Promise<void> => {
    const button = page.getByRole('button', { name, exact: true });
    if ((await button.count()) > 0) await button.first().click();
  };

/** All pages to capture. Pages of a single object show the newest of its kind. */
export async function shotsOf(client: Client): Promise<Shot[]> {
  const members = await client.listMembers();
  const [endpoint] = await client.listEndpoints();
  const workflows = await client.listWorkflows();
  return [
    {
      name: 'overview',
      path: '/',
      documented: true,
    },
    ...(await runShots(client)),
    ...(await gateShots(client)),
    { name: 'workflows', path: '/workflows' },
    ...(await workflowShots(client, workflows)),
    { name: 'templates', path: '/templates' },
    { name: 'schedules', path: '/schedules' },
    { name: 'schedule-new', path: '/schedules', act: press('New schedule') },
    ...(await eventShots(client)),
    { name: 'tools', path: '/tools' },
    { name: 'tool-new', path: '/tools', act: press('New tool') },
    { name: 'connections', path: '/connections' },
    { name: 'connection-new', path: '/connections', act: press('New connection') },
    { name: 'secrets', path: '/secrets' },
    { name: 'queues', path: '/queues' },
    { name: 'budgets', path: '/budgets' },
    { name: 'usage', path: '/usage' },
    { name: 'policies', path: '/policies' },
    { name: 'policy-log', path: '/policy-log' },
    { name: 'audit', path: '/audit' },
    { name: 'members', path: '/members' },
    { name: 'member-new', path: '/members', act: press('Invite member') },
    ...part(members[0] && { name: 'member', path: `/members/${members[0].id}` }),
    { name: 'keys', path: '/keys' },
    { name: 'account', path: '/account' },
    { name: 'settings', path: '/settings' },
    ...(await dataShots(client)),
    { name: 'webhooks', path: '/webhooks' },
    ...part(endpoint && { name: 'webhook', path: `/webhooks/${endpoint.id}` }),
    { name: 'help', path: '/help' },
    { name: 'palette', path: '/', act: (page) => page.keyboard.press('Control+k') },
    { name: 'shortcuts', path: '/runs', act: (page) => page.keyboard.press('?') },
    { name: 'unknown', path: '/no-such-page' },
    { name: 'unknown-run', path: '/runs/run_none' },
    { name: 'login', path: '/login' },
    { name: 'signup', path: '/signup' },
    { name: 'invite', path: '/invite' },
  ];
}

async function runShots(client: Client): Promise<Shot[]> {
  const { runs } = await client.listRuns({ limit: 200 });
  const paused = runs.find(({ status }) => status === 'paused') ?? runs[0];
  const failed = runs.find(
    ({ status, failure }) => status === 'failed' && failure?.kind !== 'cancelled',
  );
  const cancelled = runs.find(({ failure }) => failure?.kind === 'cancelled');
  const other = runs.find(
    ({ id, workflow_id }) => id !== paused?.id && workflow_id === paused?.workflow_id,
  );
  const kept = ['loop', 'map', 'wait', 'workflow', 'agent'] as const;
  const found = new Map<string, { id: string; stepKey: string }>();
  for (const { id, status } of runs.toReversed()) {
    const { steps } = await client.getRun(id);
    for (const kind of kept) {
      const step = steps.find((each) => each.kind === kind);
      if (step === undefined || (kind === 'wait') !== (status === 'running')) continue;
      found.set(kind, { id, stepKey: step.step_key });
    }
  }
  const agent = found.get('agent');
  return [
    { name: 'runs', path: '/runs' },
    { name: 'runs-filters', path: '/runs', act: press('Filters') },
    { name: 'runs-failed', path: '/runs?status=failed' },
    ...part(paused && { name: 'run', path: `/runs/${paused.id}`, documented: true }),
    ...part(failed && { name: 'run-failed', path: `/runs/${failed.id}` }),
    ...part(cancelled && { name: 'run-cancelled', path: `/runs/${cancelled.id}` }),
    ...kept.flatMap((kind) => {
      const run = found.get(kind);
      return run === undefined ? [] : [{ name: `run-${kind}`, path: `/runs/${run.id}` }];
    }),
    ...(agent === undefined
      ? []
      : [
          {
            name: 'run-step',
            path: `/runs/${agent.id}?step=${encodeURIComponent(agent.stepKey)}`,
          },
          ...['graph', 'log', 'checks', 'checkpoints'].map((tab) => ({
            name: `run-tab-${tab}`,
            path: `/runs/${agent.id}?tab=${tab}`,
          })),
        ]),
    ...part(
      other && paused && { name: 'run-compare', path: `/runs/${paused.id}/compare/${other.id}` },
    ),
  ];
}

async function gateShots(client: Client): Promise<Shot[]> {
  const { approvals } = await client.listApprovals();
  const call = approvals.find(({ kind }) => kind === 'tool_call');
  const gate = approvals.find(({ kind }) => kind === 'human_gate');
  const path = ({ run_id, node_id, step_key }: (typeof approvals)[number]): string =>
    `/approvals/${run_id}/${node_id}?step=${encodeURIComponent(step_key)}`;
  return [
    { name: 'approvals', path: '/approvals', documented: true },
    { name: 'approvals-decided', path: '/approvals/decided' },
    ...part(gate && { name: 'gate', path: path(gate) }),
    ...part(call && { name: 'gate-call', path: path(call) }),
    ...part(call && { name: 'gate-edit', path: path(call), act: press('Edit arguments') }),
  ];
}

async function workflowShots(
  client: Client,
  workflows: readonly { id: string }[],
): Promise<Shot[]> {
  const all = await Promise.all(workflows.map(({ id }) => client.getWorkflow(id)));
  const kindOf = (kind: string) =>
    all.flatMap(({ id, graph }) => {
      const nodes = graph.nodes as { id: string; kind: string }[];
      const node = nodes.find((each) => each.kind === kind);
      return node === undefined ? [] : [{ id, node: node.id }];
    })[0];
  const [largest] = all.toSorted((a, b) => b.graph.nodes.length - a.graph.nodes.length);
  const experiment = await newestExperiment(client, workflows);
  if (largest === undefined) return [];
  const page = `/workflows/${largest.id}`;
  const kinds = ['agent', 'tool', 'code', 'condition', 'map', 'human_gate', 'wait', 'workflow'];
  return [
    { name: 'workflow', path: page },
    ...['runs', 'versions', 'triggers', 'checks', 'experiments', 'settings'].map((tab) => ({
      name: `workflow-${tab}`,
      path: `${page}?tab=${tab}`,
    })),
    { name: 'workflow-run', path: `${page}?run=true` },
    { name: 'editor', path: `${page}/edit`, documented: true },
    { name: 'editor-add', path: `${page}/edit`, act: press('Add node') },
    ...kinds.flatMap((kind) => {
      const at = kindOf(kind);
      if (at === undefined) return [];
      return [{ name: `editor-${kind}`, path: `/workflows/${at.id}/edit?node=${at.node}` }];
    }),
    { name: 'workflow-new', path: '/workflows', act: press('New workflow') },
    ...part(experiment && { name: 'experiment', path: `/experiments/${experiment.id}` }),
  ];
}

async function eventShots(client: Client): Promise<Shot[]> {
  const { events } = await client.listWorkspaceEvents({ limit: 50 });
  const event = events.find(({ started, woke }) => started + woke > 0) ?? events[0];
  return [
    { name: 'events', path: '/events' },
    { name: 'events-waiting', path: '/events?show=waiting' },
    { name: 'event-new', path: '/events', act: press('Send event') },
    ...part(event && { name: 'event', path: `/events/${event.id}` }),
  ];
}

async function dataShots(client: Client): Promise<Shot[]> {
  const [feed] = await client.listFeeds();
  const { entities } = await client.listEntities({ limit: 1 });
  return [
    { name: 'data-feeds', path: '/data' },
    ...part(feed && { name: 'data-feed', path: `/data/feeds/${feed.id}` }),
    { name: 'data-entities', path: '/data/entities' },
    ...part(entities[0] && { name: 'data-entity', path: `/data/entities/${entities[0].id}` }),
    { name: 'data-changes', path: '/data/changes' },
    { name: 'data-keys', path: '/data/keys' },
  ];
}

async function newestExperiment(
  client: Client,
  workflows: readonly { id: string }[],
): Promise<{ id: string } | undefined> {
  for (const { id } of workflows) {
    const { experiments } = await client.listExperiments(id, { limit: 1 });
    if (experiments[0] !== undefined) return experiments[0];
  }
  return undefined;
}
