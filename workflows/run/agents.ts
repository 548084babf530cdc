import { type AgentAction, createAgentLoop } from '#shared/agents/loop.ts';
import { callKey, type OpenCall, type TurnProgress, turnKey } from '#shared/agents/turn-record.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import type { FailedStep } from '#shared/execution.ts';
import { nodeLabel, outputKey } from '#shared/graph/compile.ts';
import { isAgentCall } from '#shared/graph/gates/gate-opening.ts';
import type { ControlStep, ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import type { Json } from '#shared/json.ts';
import { workflowOf } from '#shared/tools.ts';
import { causeOf } from '#workflows/cause.ts';
import { withdrawUnwanted } from './queued-calls.ts';
import { startLong, startShort, startsShort } from './attempts.ts';
import type { Work } from './work.ts';
import { ownerOf, startChild } from './children.ts';
import { fail, text } from './failures.ts';
import type { DecidedGate } from './open-gates.ts';
import type { ChildWork } from './open-children.ts';
import { callPart, prepareCall, prepareTools, prepareTurn } from '#shared/graph/prepare/agent.ts';
import { callbacksOf } from '#shared/graph/waits/callbacks.ts';
import type { PreparedStep } from '#shared/graph/prepare/step.ts';
import type { RunningAgent, StepWork } from './running-agent.ts';
import { complete, pendingWrites, type Run, wake } from './state.ts';

/**
 * Agents with tools. `AgentLoop` decides what comes next; here, each turn and each call is dispatched as a separate
 * step, in the lane of its model or tool. The conversation stays in the ledger: the execution only knows which turn and
 * calls are open.
 */

/**
 * Starts an agent, or continues it at its last turn. Returns false, because its first turn carries the control steps.
 */
export function startAgent(run: Run, step: ReadyNode, node: AgentNode): false {
  let prepared;
  try {
    prepared = prepareTools(node, run.scheduler.state(step.step_key), callbacksOf(run.graph));
    run.pace.add(prepared.work);
  } catch (error) {
    fail(run, step, text(error), 'node', error);
    return false;
  }
  const loop = createAgentLoop(node, run.turns.get(step.step_key));
  const agent: RunningAgent = { step, prepared, loop };
  run.turns.delete(step.step_key);
  run.agents.set(step.step_key, agent);
  record(run, { ...entryOf(run, agent), status: 'running' });
  perform(run, agent, loop.start());
  return false;
}

const entryOf = (run: Run, { step }: RunningAgent) => {
  const node = run.scheduler.node(step.step_key);
  return {
    step_key: step.step_key,
    node_id: node.id,
    label: nodeLabel(node),
    kind: node.kind,
    iteration: step.iteration,
    output_key: outputKey(node),
  };
};

/** Queues a change of the agent's own step for the next call, after the control steps that are already waiting. */
const record = ({ scheduler }: Run, step: ControlStep): void =>
  scheduler.returnControlSteps([...scheduler.takeControlSteps(), step]);

function perform(run: Run, agent: RunningAgent, actions: readonly AgentAction[]): void {
  for (const action of actions) {
    switch (action.do) {
      case 'ask':
        run.agentWork.push(turnWork(run, agent, action.turn, action.tools));
        wake(run);
        break;
      case 'call':
        queueCall(run, agent, action.turn, action.call);
        break;
      case 'await':
        awaitApproval(run, agent, action.turn, action.call);
        break;
      case 'answer':
        answer(run, agent, action.output);
        break;
      case 'fail':
        failAgent(run, agent, action.error, 'node');
        break;
      default:
        action satisfies never;
    }
  }
}

function turnWork(run: Run, agent: RunningAgent, turn: number, tools: boolean): StepWork {
  const { step_key } = agent.step;
  const prepared = prepareTurn(agent.prepared, { step_key, turn, ...(tools ? {} : { tools }) });
  return {
    agent,
    stepKey: turnKey(step_key, turn),
    prepared,
    short: startsShort(run, prepared.node),
    succeeded: (output) => perform(run, agent, agent.loop.asked(output as unknown as TurnProgress)),
  };
}

function queueCall(run: Run, agent: RunningAgent, turn: number, call: OpenCall): void {
  const workflow = workflowOf(call.tool);
  run.agentWork.push(
    workflow === undefined
      ? callWork(run, agent, turn, call)
      : { agent, child: callChild(run, agent, { turn, call, workflow }) },
  );
  wake(run);
}

/** Starts the child run that a call waits for. The call's arguments are in the ledger, and so is its result. */
function callChild(
  run: Run,
  agent: RunningAgent,
  { turn, call, workflow }: { turn: number; call: OpenCall; workflow: string },
): ChildWork {
  const { step_key: agentKey, iteration } = agent.step;
  const { node } = agent.prepared;
  return {
    place: {
      ...ownerOf(run),
      step_key: callKey(agentKey, turn, call.index),
      node_id: node.id,
      label: call.tool,
      iteration,
      output_key: null,
      agent: callPart(node, agentKey, turn, call),
    },
    called: () => ({ workflow, input: {} }),
    succeeded: () => perform(run, agent, agent.loop.settled(call.index)),
    failed: (error, reason, cause) =>
      failAgent(run, agent, `Tool '${call.tool}' failed: ${error}`, reason, cause),
  };
}

function callWork(run: Run, agent: RunningAgent, turn: number, call: OpenCall): StepWork {
  const prepared = prepareCall(agent.prepared, agent.step.step_key, turn, call);
  return {
    agent,
    stepKey: callKey(agent.step.step_key, turn, call.index),
    prepared,
    short: startsShort(run, prepared.node),
    // A failed call is also settled: the model gets its error.
    succeeded: () => perform(run, agent, agent.loop.settled(call.index)),
  };
}

function awaitApproval(run: Run, agent: RunningAgent, turn: number, call: OpenCall): void {
  const { step_key: agent_key, iteration } = agent.step;
  const node = run.scheduler.node(agent_key);
  const step_key = callKey(agent_key, turn, call.index);
  run.gates.reach(
    { step_key, node_id: node.id, kind: 'tool', iteration },
    {
      step_key,
      node_id: node.id,
      label: call.tool,
      iteration,
      prompt: `Call ${call.tool}?`,
      fails_on_reject: false,
      tool_call: { agent_key, turn, call: call.index, tool: call.tool },
    },
  );
  run.atRest = false;
  wake(run);
}

/**
 * Continues the agent whose tool call was decided. An agent that has failed in the meantime finds the decision when it
 * resumes.
 */
export function applyCallDecision(run: Run, { opening, decision }: DecidedGate): void {
  const { tool_call: made } = opening;
  if (made === undefined || !isAgentCall(made)) return;
  const { agent_key, call } = made;
  const agent = run.agents.get(agent_key);
  if (agent === undefined) return;
  const { loop } = agent;
  perform(run, agent, decision.approved ? loop.approved(call) : loop.settled(call));
}

function answer(run: Run, agent: RunningAgent, output: Json): void {
  const { step } = agent;
  run.agents.delete(step.step_key);
  record(run, { ...entryOf(run, agent), status: 'success', output });
  complete(run, step.step_key, output);
}

function failAgent(
  run: Run,
  agent: RunningAgent,
  error: string,
  reason: FailedStep['reason'],
  cause?: unknown,
): void {
  const { step, loop } = agent;
  // A second call of the same turn can also fail.
  if (run.agents.get(step.step_key) !== agent) return;
  run.agents.delete(step.step_key);
  run.turns.set(step.step_key, loop.turn);
  fail(run, step, error, reason, cause);
  // Its error was caught, so it does not continue.
  if (!run.failures.has(step.step_key)) run.turns.delete(step.step_key);
  withdrawUnwanted(run);
}

/** Adds the name of the failed tool. A turn's error already names its model. */
const failureText = ({ agent }: PreparedStep, error: unknown): string =>
  agent?.tool === undefined
    ? text(causeOf(error))
    : `Tool '${agent.tool}' failed: ${text(causeOf(error))}`;

/**
 * Dispatches waiting turns and calls, up to the limits on steps in flight. Returns a promise when the workflow task has
 * no time for more: then dispatch again.
 */
export function dispatchAgents(run: Run, shortSlots: number): Promise<void> | undefined {
  for (let at = 0; at < run.agentWork.length;) {
    const work = run.agentWork[at]!;
    if (run.agents.get(work.agent.step.step_key) !== work.agent) {
      run.agentWork.splice(at, 1);
      continue;
    }
    if (run.inFlight.size >= run.input.limits.steps_in_flight) return undefined;
    const short = 'short' in work && work.short;
    if ('child' in work ? isFull(run) : short && run.short.inFlight >= shortSlots) {
      at += 1;
      continue;
    }
    const pause = short ? run.pace.pauseForShort() : run.pace.pause();
    if (pause !== undefined) return pause.then(() => dispatchAgents(run, shortSlots));
    run.agentWork.splice(at, 1);
    if ('child' in work) startChild(run, work.child);
    else dispatch(run, work);
  }
  return undefined;
}

/** Whether the run has the maximum number of steps in flight and running children. */
const isFull = ({ inFlight, children, input }: Run): boolean =>
  inFlight.size + children.running >= input.limits.steps_in_flight;

function dispatch(run: Run, { agent, stepKey, prepared, short, succeeded }: StepWork): void {
  run.inFlight.add(stepKey);
  const work: Work = {
    step: { step_key: stepKey, iteration: agent.step.iteration },
    prepared,
    call: pendingWrites(run),
    succeeded,
    failed: (reason, error) => failAgent(run, agent, failureText(prepared, error), reason, error),
    wanted: () => run.agents.get(agent.step.step_key) === agent,
  };
  if (short) startShort(run, work);
  else startLong(run, work);
}
