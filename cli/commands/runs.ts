import type { Command } from 'commander';
import type { Run, Step } from '#client/index.ts';
import { agentsOf, conversationLines, nodeSteps } from '#cli/conversation.ts';
import { bindDecision, sendDecision, type DecisionFlags, gateOf } from '#cli/decisions.ts';
import { printConsequences } from '#cli/consequences.ts';
import { codeOfRun, Ending, exitCodes, misuse, refusal } from '#cli/endings.ts';
import { collect, positive, readInput, readInputIf, wholePositive } from '#cli/input.ts';
import { costOf, dollars, type Output } from '#cli/output.ts';
import { memberOf } from '#cli/references.ts';
import { inSession, type Session } from '#cli/session.ts';
import { createRunView, progressOf, rests, runStates } from '#cli/watch.ts';
import { type DryRunFlags, printDryRun } from './dry-run.ts';
import { listCommands, viewCommands } from './run-list.ts';
import { terminal } from '#cli/terminal.ts';
import { recordCommand } from '#cli/records.ts';

export interface FollowOptions {
  wait?: true;
  watch?: true;
  waitTimeout: number;
}

interface RunOptions extends FollowOptions, DryRunFlags {
  input?: string[];
  idempotencyKey?: string;
}

/** The width of lines that do not go to a terminal, in columns. */
const WIDTH_ELSEWHERE = 160;

export function runCommands(program: Command): void {
  const run = program
    .command('run')
    .argument('<workflow>', 'id or name')
    .description('start a run')
    .option(
      '-i, --input <input>',
      'a JSON file, - for standard input, or key=value; may be repeated',
      collect,
    );

  followOptions(run)
    .option('--idempotency-key <key>', 'used twice with the same input, it starts one run')
    .option('--dry-run', 'start nothing, and say what a run would cost, need and be refused')
    .option('--version <number>', 'with --dry-run: another version', wholePositive)
    .option('--draft', "run the workflow's draft, and not its current version")
    .action(inSession<RunOptions>(startRun));

  const runs = program.command('runs').description('list and manage runs');
  listCommands(runs);

  viewCommands(runs);

  runs
    .command('show')
    .argument('<run>')
    .description('show a run with its steps')
    .action(
      inSession(async (session, [runId = '']) =>
        showRun(session, await session.client.getRun(runId)),
      ),
    );

  const watching = runs
    .command('watch')
    .argument('<run>')
    .description('follow the steps of a run until it ends or needs a decision');

  waitTimeoutOption(watching).action(
    inSession<{ waitTimeout: number }>(async (session, [runId = ''], { waitTimeout }) =>
      endWith(await watch(session, runId, waitTimeout)),
    ),
  );

  runs
    .command('stream-token')
    .argument('<run>')
    .description("create a token for a page that reads this run's stream, and nothing else")
    .option('--ttl <seconds>', 'when it expires; 300 by default, at most 3600', wholePositive)
    .action(
      inSession<{ ttl?: number }>(async ({ client, output }, [runId = ''], { ttl }) =>
        output.record(
          await client.createStreamToken(runId, ttl === undefined ? {} : { expires_in: ttl }),
        ),
      ),
    );

  program
    .command('gate')
    .argument('<run>')
    .description('show the gate that a run waits at, who can decide it, and what it asked before')
    .option('--node <id>', 'the gate, when several are open')
    .option('--step <key>', 'the gate of a step, also a decided one')
    .action(
      inSession<{ node?: string; step?: string }>(
        async ({ client, output }, [runId = ''], { node, step }) => {
          const stepKey = step ?? gateOf(await client.getRun(runId), { node })?.step_key;
          if (stepKey === undefined) {
            const which = node === undefined ? 'a gate' : `gate '${node}'`;
            throw refusal(`Run ${runId} does not wait at ${which}`);
          }
          const gate = await client.getGate(runId, stepKey);
          const { consequences: _consequences, ...fields } = gate;
          output.record(gate, fields);
          if (gate.consequences !== null) printConsequences(output, gate.consequences);
        },
      ),
    );

  decisionCommand(program, 'approve', true);

  decisionCommand(program, 'reject', false);

  program
    .command('assign')
    .argument('<run>')
    .argument('[member]', 'id or email; not with --unassign')
    .description('say who is expected to decide the gate that a run waits at')
    .option('--node <id>', 'the gate, when several are open')
    .option('--unassign', 'take the assignment back')
    .action(
      inSession<{ node?: string; unassign?: true }>(
        async ({ client, output }, [runId = '', reference], { node, unassign }) => {
          if ((reference === undefined) !== (unassign === true)) {
            throw misuse('Give a member, or --unassign');
          }
          const memberId = reference === undefined ? null : await memberOf(client, reference);
          const run = await client.assignGate(runId, memberId, { nodeId: node });
          output.record(run, shortly(run));
        },
      ),
    );

  recordCommand(program, ['resume', 'resume a failed run from its last checkpoint'], {
    argument: ['run'],
    read: (client, runId) => client.resume(runId),
    fields: shortly,
  });

  recordCommand(program, ['cancel', 'cancel a run'], {
    argument: ['run'],
    read: (client, runId) => client.cancel(runId),
    fields: shortly,
  });
}

/** Options of the commands that start a run, for `followStarted`. */
export const followOptions = (command: Command): Command =>
  waitTimeoutOption(
    command
      .option('--wait', 'wait until it ends or needs a decision; the exit code says which')
      .option('--watch', 'wait, and show its steps'),
  );

const waitTimeoutOption = (command: Command): Command =>
  command.option(
    '--wait-timeout <seconds>',
    'maximum time to wait; the run continues',
    positive,
    300,
  );

function decisionCommand(program: Command, name: 'approve' | 'reject', approved: boolean): void {
  const command = program
    .command(name)
    .argument('<run>')
    .description(`${name} at the gate, or the tool call, that a run waits at`)
    .option('-i, --input <input>', 'merged into the state of the run; as in ops run', collect)
    .option('--node <id>', 'the gate, when several are open')
    .option('--reason <text>', 'the reason; stored with the decision')
    .option(
      '--digest <digest>',
      'decide only what was read with it; the tool call, when several wait',
    )
    .option('--yes', 'do not ask for confirmation');
  if (approved) {
    command.option(
      '--arguments <json>',
      'sent instead of the arguments of the tool call; JSON, or @ and a file',
    );
    command.option(
      '--accept-changes',
      'approve although what the gate shows has changed; see the stale of ops gate',
    );
  }
  command.action(
    inSession<DecisionFlags & { input?: string[]; reason?: string; acceptChanges?: true }>(
      async ({ client, output }, [runId = ''], { input, reason, acceptChanges, ...flags }) => {
        const given = await readInputIf(input);
        const shownWith = async (stepKey: string) => {
          const checking = { stepKey, reason, onlyCheck: true };
          return (await client.approve(runId, true, given, checking)).shown;
        };
        const bound = await bindDecision(client, output, {
          ...{ runId, approved, flags },
          shownWith: approved && given !== undefined ? shownWith : undefined,
        });
        const options = { nodeId: flags.node, reason, acceptChanges, ...bound };
        const run = await sendDecision(output, () =>
          client.approve(runId, approved, given, options),
        );
        output.record(run, shortly(run));
      },
    ),
  );
}

async function startRun(
  session: Session,
  [workflow = '']: string[],
  { input = [], idempotencyKey, dryRun, version, draft, ...follow }: RunOptions,
): Promise<void> {
  if (dryRun) return printDryRun(session, workflow, input, { version, draft });
  if (version !== undefined) throw misuse('--version needs --dry-run');
  const started = await session.client.run(workflow, await readInput(input), {
    idempotencyKey,
    draft,
  });
  await followStarted(session, started, follow);
}

/** Prints the run that was started, or waits for it. */
export async function followStarted(
  session: Session,
  started: Run,
  { wait, watch: watching, waitTimeout }: FollowOptions,
): Promise<void> {
  if (watching) return endWith(await watch(session, started.id, waitTimeout));
  if (!wait) return session.output.record(started, shortly(started));
  const run = await session.client.waitForRun(started.id, { timeout: waitTimeout });
  await showRun(session, run);
  endWith(run);
}

async function watch({ client, output }: Session, runId: string, seconds: number): Promise<Run> {
  const view = createRunView(output, terminal().stdout);
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

/** Only sets the exit code, because the run is already printed. */
function endWith(run: Run): void {
  const code = codeOfRun(run.status);
  if (code !== exitCodes.ok) throw new Ending(code);
}

/** The fields of a run that was started or changed. */
const shortly = ({ id, workflow_name, status, pending_gate: gate }: Run) => ({
  id,
  workflow: workflow_name,
  status,
  ...(gate !== null && progressOf(gate) !== '' ? { gate: `${gate.label}${progressOf(gate)}` } : {}),
});

const statusOf = ({ status, paused_child, reused_from }: Step): string => {
  if (paused_child === true) return 'paused child';
  return reused_from === undefined ? status : `${status} (reused)`;
};

const unpricedText = (steps: number): string => {
  if (steps === 0) return '';
  return steps === 1 ? ', 1 step without a price' : `, ${steps} steps without a price`;
};

const waitText = (wait: Run['waiting'][number]): string =>
  `${wait.step_key} for ${awaited(wait)}${wait.until === null ? '' : `, until ${wait.until}`}`;

function awaited({ for: kind, events, connection }: Run['waiting'][number]): string {
  if (connection !== null) return `${connection.member_name} to sign in to ${connection.name}`;
  return kind === 'event' ? events.join(' or ') : `a ${kind}`;
}

async function showRun({ client, output }: Session, run: Run): Promise<void> {
  if (output.format === 'json') return output.record(run);
  const { id, workflow_name, workflow_version, status, duration_ms, error } = run;
  output.record(run, {
    id,
    workflow: `${workflow_name} (version ${workflow_version})`,
    status,
    cost: `${costOf(run)}${unpricedText(run.unpriced_steps)}`,
    ...(run.children_cost_usd === 0 ? {} : { children_cost: dollars(run.children_cost_usd) }),
    ...(run.parent_run_id === null
      ? {}
      : { started_by: `${run.parent_run_id}, step ${run.parent_step_key ?? ''}` }),
    ...(run.forked_from === null
      ? {}
      : {
          [run.mode === null ? 'forked_from' : 'rehearses']: [
            run.forked_from,
            run.forked_from_step ?? 'the start',
          ].join(', from '),
        }),
    duration: `${duration_ms} ms`,
    ...(error === null ? {} : { error }),
    ...(run.waiting.length === 0 ? {} : { waiting: run.waiting.map(waitText).join('; ') }),
    ...(run.pending_gate === null
      ? {}
      : { gate: `${run.pending_gate.prompt}${progressOf(run.pending_gate)}` }),
    output: run.output,
  });
  if (run.steps.length === 0) return;
  output.note('');
  output.list(nodeSteps(run.steps), {
    Step: 'step_key',
    Kind: 'kind',
    Status: statusOf,
    Attempt: 'attempt',
    Cost: ({ cost_usd, unpriced }) =>
      costOf({ cost_usd, unpriced_steps: unpriced === true ? 1 : 0 }),
    Duration: (step) => (step.duration_ms === null ? null : `${step.duration_ms} ms`),
    ...(run.steps.some(({ child_run_id }) => child_run_id !== undefined)
      ? { Run: (step: Step) => step.child_run_id ?? null }
      : {}),
    Error: 'error',
  });
  printCounts(output, run);
  const columns = terminal().stdout.columns || WIDTH_ELSEWHERE;
  for (const agent of agentsOf(run)) {
    output.note('');
    const messages = await client.listStepMessages(run.id, agent.step_key);
    const look = { steps: run.steps, columns, paint: output.paint };
    for (const line of conversationLines(agent, messages, look)) output.note(line);
  }
}

/** For a run with more steps than its record contains. */
function printCounts(output: Output, { step_counts: counts }: Run): void {
  if (counts === null) return;
  const total = counts.reduce((sum, each) => sum + each.total, 0);
  output.note(`\nThese are the first steps of ${total}. All, by node:`);
  output.list(counts, {
    Node: 'node_id',
    Kind: 'kind',
    Steps: 'total',
    Status: ({ by_status }) =>
      Object.entries(by_status)
        .map(([status, count]) => `${count} ${status}`)
        .join(', '),
  });
}
