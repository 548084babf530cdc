import type { Command } from 'commander';
import type { Run, RunSummary, Step } from '../../client/index.ts';
import { agentsOf, conversationLines, nodeSteps } from '../conversation.ts';
import { bindDecision, type DecisionFlags } from '../decisions.ts';
import { codeOfRun, Ending, exitCodes } from '../endings.ts';
import { collect, positive, readInput, wholePositive } from '../input.ts';
import { dollars, type Output } from '../output.ts';
import { inSession, type Session } from '../session.ts';
import { createRunView, progressOf, rests, runStates } from '../watch.ts';
import { findWorkflow } from './workflows.ts';

interface RunOptions {
  input?: string[];
  wait?: true;
  watch?: true;
  timeout: number;
  idempotencyKey?: string;
}

/** Columns of lines that do not go to a terminal. */
const WIDTH_ELSEWHERE = 160;

const listColumns = {
  Id: (row: RunSummary) => row.id,
  Workflow: (row: RunSummary) => row.workflow_name,
  Version: (row: RunSummary) => row.workflow_version,
  Status: (row: RunSummary) => row.status,
  Trigger: (row: RunSummary) => row.trigger,
  Cost: (row: RunSummary) => dollars(row.cost_usd),
  Created: (row: RunSummary) => row.created_at,
};

export function runCommands(program: Command): void {
  startCommand(program);
  const runs = program.command('runs').description('list and manage runs');
  readCommands(runs);
  changeCommands(program);
}

function startCommand(program: Command): void {
  program
    .command('run')
    .argument('<workflow>', 'id or name')
    .description('start a run')
    .option(
      '-i, --input <input>',
      'a JSON file, - for standard input, or key=value; may be repeated',
      collect,
    )
    .option('--wait', 'wait until it ends or needs a decision; the exit code says which')
    .option('--watch', 'wait, and show its steps')
    .option('--wait-timeout <seconds>', 'maximum time to wait; the run continues', positive, 300)
    .option('--idempotency-key <key>', 'used twice with the same input, it starts one run')
    .action(inSession<RunOptions & { waitTimeout: number }>(startRun));
}

function readCommands(runs: Command): void {
  runs
    .command('list')
    .description('list runs, newest first')
    .option('--workflow <workflow>', 'of this workflow, by id or name')
    .option('--status <status>', 'pending, running, paused, success or failed')
    .option('--parent <run>', 'started by this run')
    .option('--limit <number>', 'maximum number', wholePositive, 20)
    .action(
      inSession<{ workflow?: string; status?: Run['status']; parent?: string; limit: number }>(
        async ({ client, output }, _args, { workflow, status, parent, limit }) => {
          const workflowId =
            workflow === undefined ? undefined : (await findWorkflow(client, workflow)).id;
          const rows: RunSummary[] = [];
          const query = {
            workflow_id: workflowId,
            status,
            parent_run_id: parent,
            limit: Math.min(limit, 200),
          };
          for await (const run of client.runs(query)) if (rows.push(run) === limit) break;
          output.list(rows, listColumns);
        },
      ),
    );

  runs
    .command('show')
    .argument('<run>')
    .description('show a run with its steps')
    .action(
      inSession(async ({ client, output }, [runId = '']) =>
        showRun({ client, output }, await client.getRun(runId)),
      ),
    );

  runs
    .command('watch')
    .argument('<run>')
    .description('follow the steps of a run until it ends or needs a decision')
    .option('--wait-timeout <seconds>', 'maximum time to wait; the run continues', positive, 300)
    .action(
      inSession<{ waitTimeout: number }>(async (session, [runId = ''], { waitTimeout }) =>
        endWith(await watch(session, runId, waitTimeout)),
      ),
    );
}

function changeCommands(program: Command): void {
  decisionCommand(program, 'approve', true);
  decisionCommand(program, 'reject', false);

  program
    .command('resume')
    .argument('<run>')
    .description('resume a failed run from its last checkpoint')
    .action(
      inSession(async (session, [runId = '']) =>
        printRun(session.output, await session.client.resume(runId)),
      ),
    );

  program
    .command('cancel')
    .argument('<run>')
    .description('cancel a run')
    .action(
      inSession(async (session, [runId = '']) =>
        printRun(session.output, await session.client.cancel(runId)),
      ),
    );
}

function decisionCommand(program: Command, name: 'approve' | 'reject', approved: boolean): void {
  const command = program
    .command(name)
    .argument('<run>')
    .description(`${name} at the gate, or the tool call, that a run waits at`)
    .option('-i, --input <input>', 'merged into the state of the run; as in ops run', collect)
    .option('--node <id>', 'the gate, when several are open')
    .option('--reason <text>', 'the reason; stored with the decision')
    .option('--digest <digest>', 'the tool call, when several wait; from ops runs show -o json')
    .option('--yes', 'do not ask before a tool call is decided');
  if (approved) {
    command.option(
      '--arguments <json>',
      'sent instead of the arguments of the tool call; JSON, or @ and a file',
    );
  }
  command.action(
    inSession<DecisionFlags & { input?: string[]; reason?: string }>(
      async ({ client, output }, [runId = ''], { input, reason, ...flags }) => {
        const given = input === undefined ? undefined : await readInput(input);
        const bound = await bindDecision(client, output, { runId, approved, flags });
        const options = { nodeId: flags.node, reason, ...bound };
        printRun(output, await client.approve(runId, approved, given, options));
      },
    ),
  );
}

async function startRun(
  session: Session,
  [workflow = '']: string[],
  {
    input = [],
    wait,
    watch: watching,
    waitTimeout,
    idempotencyKey,
  }: RunOptions & { waitTimeout: number },
): Promise<void> {
  const { client, output } = session;
  const started = await client.run(workflow, await readInput(input), { idempotencyKey });
  if (watching) return endWith(await watch(session, started.id, waitTimeout));
  if (!wait) return printRun(output, started);
  const run = await client.waitForRun(started.id, { timeout: waitTimeout });
  await showRun(session, run);
  endWith(run);
}

async function watch({ client, output }: Session, runId: string, seconds: number): Promise<Run> {
  const view = createRunView(output, process.stdout);
  const signal = AbortSignal.timeout(seconds * 1000);
  try {
    for await (const run of runStates(client, runId, signal)) {
      view.show(run);
      if (rests(run)) return run;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw new Ending(exitCodes.waitedTooLong, `Run ${runId} continues after ${seconds} s`);
}

/** Sets the exit code only, because the run is already printed. */
function endWith(run: Run): void {
  const code = codeOfRun(run.status);
  if (code !== exitCodes.ok) throw new Ending(code);
}

function printRun(output: Output, run: Run): void {
  const { id, workflow_name, status, pending_gate: gate } = run;
  const waits = gate !== null && progressOf(gate) !== '';
  output.record(run, {
    ...{ id, workflow: workflow_name, status },
    ...(waits ? { gate: `${gate.label}${progressOf(gate)}` } : {}),
  });
}

async function showRun({ client, output }: Session, run: Run): Promise<void> {
  if (output.format === 'json') return output.record(run);
  const { id, workflow_name, workflow_version, status, cost_usd, duration_ms, error } = run;
  output.record(run, {
    id,
    workflow: `${workflow_name} (version ${workflow_version})`,
    status,
    cost: dollars(cost_usd),
    ...(run.children_cost_usd === 0 ? {} : { children_cost: dollars(run.children_cost_usd) }),
    ...(run.parent_run_id === null
      ? {}
      : { started_by: `${run.parent_run_id}, step ${run.parent_step_key ?? ''}` }),
    duration: `${duration_ms} ms`,
    ...(error === null ? {} : { error }),
    ...(run.pending_gate === null
      ? {}
      : { gate: `${run.pending_gate.prompt}${progressOf(run.pending_gate)}` }),
    output: run.output,
  });
  if (run.steps.length === 0) return;
  output.note('');
  output.list(nodeSteps(run.steps), {
    Step: (step) => step.step_key,
    Kind: (step) => step.kind,
    Status: (step) => (step.paused_child === true ? 'paused child' : step.status),
    Attempt: (step) => step.attempt,
    Cost: (step) => dollars(step.cost_usd),
    Duration: (step) => (step.duration_ms === null ? null : `${step.duration_ms} ms`),
    ...(run.steps.some(({ child_run_id }) => child_run_id !== undefined)
      ? { Run: (step: Step) => step.child_run_id ?? null }
      : {}),
    Error: (step) => step.error,
  });
  const columns = process.stdout.columns || WIDTH_ELSEWHERE;
  for (const agent of agentsOf(run)) {
    output.note('');
    const messages = await client.listStepMessages(run.id, agent.step_key);
    const look = { steps: run.steps, columns, paint: output.paint };
    for (const line of conversationLines(agent, messages, look)) output.note(line);
  }
}
