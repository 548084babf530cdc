import type { CustomToolDefinitions, WorkflowDefinitions } from '#shared/agents/offered-tools.ts';
import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { EvaluationCheck } from '#shared/contract/workflows/evaluation-check.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import { type CompiledGraph, compileGraph } from '#shared/graph/compile.ts';
import type { GateOpening } from '#shared/graph/gates/gate-opening.ts';
import {
  createScheduler,
  type ReadyNode,
  type Scheduler,
} from '#shared/graph/schedule/scheduler.ts';
import type { JsonObject } from '#shared/json.ts';
import type { Clock } from './clock.ts';
import type { PlayedEvent, PlayedTool, PlayOptions } from './options.ts';
import type { PlayedAgent } from './played-agent.ts';
import type { OpenWait } from './played-run.ts';
import type { Schemas } from './schemas.ts';
import { createStepBook, type StepBook } from './step-book.ts';

/** A workflow that is ready to be played. */
export interface PlayedWorkflow {
  /** Its own name; that in `workflows` if it has none. */
  name: string;
  graph: Graph;
  inputSchema: JsonObject | undefined;
  description: string;
  checks: readonly EvaluationCheck[];
}

/** What a run and those that it starts have in common. */
export interface World {
  options: PlayOptions;
  schemas: Schemas;
  clock: Clock;
  start: number;
  /** The sub-workflows that are played, by the name in `workflows`. Others are mocks. */
  workflows: ReadonlyMap<string, PlayedWorkflow>;
  tools: ReadonlyMap<string, PlayedTool>;
  definitions: { customTools: CustomToolDefinitions; workflows: WorkflowDefinitions };
  /** The checks of successful runs, by the name in `workflows`; undefined for the run itself. */
  checks: ReadonlyMap<string | undefined, readonly EvaluationCheck[]>;
  events: readonly (PlayedEvent & { id: string; at: number })[];
  /** Continues a run after something has happened in it. */
  proceed: (run: Playing) => void;
}

/** A gate that the run has reached. */
export interface AskedGate {
  step: ReadyNode;
  opening: GateOpening;
  /** When it opened, in ms since 1970; undefined until the run is at rest. */
  since: number | undefined;
  /** Counts what comes of a decision: its consequences in the run. */
  decided: (decision: AppliedDecision) => void;
}

/** A decision that counts. */
export interface AppliedDecision {
  approved: boolean;
  input?: JsonObject;
  reason?: string;
  /** The deadline made it. */
  timed_out?: 'reject' | 'approve' | 'fail';
  /** For a tool call: what is sent. */
  arguments?: JsonObject;
}

export interface Failure {
  step: Pick<ReadyNode, 'step_key'>;
  node: GraphNode;
  label: string;
  message: string;
  reason: 'node' | 'rejected';
}

type RunEnd =
  | { status: 'success'; output: JsonObject }
  | { status: 'failed'; error: string; kind: 'node' | 'rejected'; node_id: string }
  /** The run that started it has ended. */
  | { status: 'cancelled' };

/** One run of one graph that is played. */
export interface Playing {
  readonly world: World;
  /** Its name in `workflows`; undefined for the run itself. */
  readonly name: string | undefined;
  /** 1 for the run itself; a run that a step starts is one deeper. */
  readonly depth: number;
  /** In ms since 1970. */
  readonly startedAt: number;
  readonly input: JsonObject;
  readonly graph: CompiledGraph;
  readonly scheduler: Scheduler;
  readonly book: StepBook;
  /** Keys of the steps in flight. */
  readonly inFlight: Set<string>;
  /** Agents with tools that have started, by step key. */
  readonly agents: Map<string, PlayedAgent>;
  /** Runs that steps of this one have started, by step key. */
  readonly children: Map<string, Playing>;
  readonly gates: Map<string, AskedGate>;
  /** The last round of each step that has asked. */
  readonly rounds: Map<string, number>;
  /** The number of openings per node. */
  readonly asked: Map<string, number>;
  /** The arguments that were approved, by step key. */
  readonly approved: Map<string, { asked: string; sent: JsonObject }>;
  /** Steps that wait, by step key. */
  readonly waits: Map<string, { step: ReadyNode; shown: OpenWait }>;
  /** The events that were taken, by `seriesOf`. */
  readonly taken: Map<string, Set<string>>;
  /** The number of failed attempts of steps. */
  readonly errors: Map<string, number>;
  readonly failures: Map<string, Failure>;
  end: RunEnd | undefined;
  finishedAt: string | undefined;
  /** How long it did nothing but wait, until `restSince`; undefined while it does something. In ms. */
  waitedMs: number;
  restSince: number | undefined;
  /** Continues after something has happened in the run. */
  readonly proceed: () => void;
  /** Called when the run ends, and when it comes to rest. */
  noticed: () => void;
}

export function createPlaying(
  world: World,
  graph: Graph,
  input: JsonObject,
  name: string | undefined,
  depth = 1,
): Playing {
  const compiled = compileGraph(graph);
  const run: Playing = {
    ...{ world, name, depth, startedAt: world.clock.now, input, graph: compiled },
    ...{ scheduler: createScheduler(compiled, input) },
    book: createStepBook(world.clock),
    ...{
      inFlight: new Set(),
      agents: new Map(),
      children: new Map(),
      gates: new Map(),
      rounds: new Map(),
    },
    ...{ asked: new Map(), approved: new Map(), waits: new Map(), taken: new Map() },
    ...{ errors: new Map(), failures: new Map(), end: undefined, finishedAt: undefined },
    ...{ waitedMs: 0, restSince: undefined },
    proceed: () => world.proceed(run),
    noticed: () => undefined,
  };
  return run;
}

/** The entry of a node in a map of the options: nodes of sub-workflows have the name of the workflow before them. */
export function entryOf<Value>(
  { name }: Pick<Playing, 'name'>,
  entries: Readonly<Record<string, Value>> | undefined,
  nodeId: string,
): Value | undefined {
  const key = keyOf(name, nodeId);
  return entries !== undefined && Object.hasOwn(entries, key) ? entries[key] : undefined;
}

/** The key of a node in the options. */
export const keyOf = (name: string | undefined, nodeId: string): string =>
  name === undefined ? nodeId : `${name}/${nodeId}`;

/** Fails a step. `open` false: the scheduler already knows. */
export function failStep(
  run: Playing,
  stepKey: string,
  error: CaughtError,
  { reason = 'node', open = true }: { reason?: Failure['reason']; open?: boolean } = {},
): void {
  const { scheduler, book, failures } = run;
  const node = scheduler.node(stepKey);
  const label = book.find(stepKey)?.label ?? node.id;
  if (open) scheduler.fail(stepKey);
  book.fail(stepKey, error);
  if (scheduler.catchFailure(stepKey, error)) return;
  const { message } = error;
  failures.set(stepKey, { step: { step_key: stepKey }, node, label, message, reason });
}
