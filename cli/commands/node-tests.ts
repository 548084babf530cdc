import type { Command } from 'commander';
import type { NodeTest } from '#client/index.ts';
import { codeOfRun, Ending, misuse } from '#cli/endings.ts';
import { collect, jsonIn, readInputIf, requireOneVersion, wholePositive } from '#cli/input.ts';
import { dollars, type Output } from '#cli/output.ts';
import { idempotencyKey, inSession, type Session } from '#cli/session.ts';
import { findWorkflow } from './workflows.ts';

interface TestOptions {
  run?: string;
  step?: string;
  state?: string[];
  version?: number;
  draft?: true;
  allow?: string[];
  pins?: true;
  idempotencyKey?: string;
}

interface PinOptions {
  run: string;
  step?: string;
  value?: string;
}

/** Commands that test single nodes. */
export function nodeTestCommands(program: Command): void {
  program
    .command('node')
    .description('try single nodes of a workflow')
    .command('test')
    .argument('<workflow>', 'id or name')
    .argument('<node>', 'id of the node')
    .description('execute one node with the state of a past run')
    .option('--run <run>', 'the run whose state it begins with')
    .option('--step <step>', 'the step of that run, for a node in a loop or a map')
    .option('--state <state>', 'laid over that state, or all of it; as --input of ops run', collect)
    .option('--version <number>', 'of this version', wholePositive)
    .option('--draft', "of the workflow's draft")
    .option(
      '--allow <name>',
      'what it may execute: agent, custom:<name>, http_request:GET ...',
      collect,
    )
    .option('--pins', 'with your pinned outputs of other nodes')
    .addOption(idempotencyKey())
    .action(inSession<TestOptions>(testNode));
  pinCommands(program.command('pins').description('keep outputs of past runs for tests of nodes'));
}

async function testNode(
  { client, output }: Session,
  [workflow = '', node = '']: string[],
  { run, step, state, version, draft, allow, pins, idempotencyKey: key }: TestOptions,
): Promise<void> {
  if (run === undefined && state === undefined) throw misuse('Give --run, --state or both');
  requireOneVersion({ version, draft });
  const { id } = await findWorkflow(client, workflow);
  const tested = await client.testNode(id, node, {
    run_id: run,
    step_key: step,
    version,
    draft,
    allow,
    pins,
    state: await readInputIf(state),
    idempotencyKey: key,
  });
  show(output, tested);
  const code = codeOfRun(tested.status);
  if (code !== 0) throw new Ending(code);
}

function show(output: Output, tested: NodeTest): void {
  const { step, error } = tested;
  output.record(tested, {
    run: tested.run_id,
    status: tested.status,
    ...(step === null
      ? {}
      : { input: step.input, output: step.output, cost: dollars(step.cost_usd) }),
    ...(error === null ? {} : { error: step?.error ?? error }),
  });
}

function pinCommands(pins: Command): void {
  pins
    .command('list')
    .argument('<workflow>', 'id or name')
    .description('list your pinned outputs')
    .action(
      inSession(async ({ client, output }, [workflow = '']) => {
        output.list(await client.listPins((await findWorkflow(client, workflow)).id), {
          Node: 'node_id',
          Run: 'run_id',
          Step: 'step_key',
          Bytes: 'bytes',
          Pinned: 'pinned_at',
        });
      }),
    );

  pins
    .command('set')
    .argument('<workflow>', 'id or name')
    .argument('<node>', 'id of the node')
    .description('pin the output of a node from a past run')
    .requiredOption('--run <run>', 'the run that has the output')
    .option('--step <step>', 'its step; by default the last one of the node')
    .option('--value <json>', 'pin this instead of its output')
    .action(
      inSession<PinOptions>(async ({ client, output }, [workflow = '', node = ''], given) => {
        const { id } = await findWorkflow(client, workflow);
        const value = given.value === undefined ? undefined : jsonIn(given.value, '--value');
        const body = { run_id: given.run, step_key: given.step, output: value };
        output.record(await client.savePin(id, node, body));
      }),
    );

  pins
    .command('remove')
    .argument('<workflow>', 'id or name')
    .argument('<node>', 'id of the node')
    .description('remove your pinned output of a node')
    .action(
      inSession(async ({ client, output }, [workflow = '', node = '']) => {
        await client.removePin((await findWorkflow(client, workflow)).id, node);
        output.note(`Removed the pinned output of ${node}`);
      }),
    );
}
