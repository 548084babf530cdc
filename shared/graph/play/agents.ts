import { offeredTools } from '#shared/agents/offered-tools.ts';
import { shortened } from '#shared/agents/call-result.ts';
import type { CallResult } from '#shared/agents/conversation.ts';
import { type AgentAction, createAgentLoop } from '#shared/agents/loop.ts';
import {
  callKey,
  type OpenCall,
  progressOf,
  shownTurn,
  type RecordedCall,
  turnKey,
  type TurnRecord,
} from '#shared/agents/turn-record.ts';
import type { AgentNode, GraphNode } from '#shared/contract/workflows/graph.ts';
import { messageOf } from '#shared/errors.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import { rejectedCall } from '#shared/graph/gates/rejection.ts';
import { defaultTimeoutSeconds } from '#shared/graph/kinds.ts';
import { type PreparedAgent, prepareTools } from '#shared/graph/prepare/agent.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import { callbacksOf } from '#shared/graph/waits/callbacks.ts';
import type { Json } from '#shared/json.ts';
import { workflowOf } from '#shared/tools.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { askTurn } from './agent-turns.ts';
import { answerOf } from './answers.ts';
import { startWork } from './attempts.ts';
import { mockOfWorkflow, ofChild, runChild } from './children.ts';
import { ask } from './gates.ts';
import type { PlayedAgent } from './played-agent.ts';
import { failStep, type Playing } from './playing.ts';
import type { StepEntry } from './step-book.ts';
import { callTool, mockOfNode, placeOf, rulesOf } from './steps.ts';

/** Whether an agent has tools, and the test does not give its answer as a whole. */
export const takesTurns = (run: Playing, node: GraphNode): node is AgentNode =>
  node.kind === 'agent' && node.tools !== undefined && mockOfNode(run, node.id) === undefined;

/** Starts an agent with tools: its turns and calls are steps of their own. */
export function startAgent(run: Playing, step: ReadyNode, node: AgentNode): void {
  const { step_key: key, iteration } = step;
  const label = nodeLabel(node);
  const entry = { step_key: key, node_id: node.id, label, kind: node.kind, iteration };
  run.book.begin(entry, 'running');
  let prepared: PreparedAgent;
  try {
    prepared = prepareTools(node, run.scheduler.state(key), callbacksOf(run.graph));
  } catch (error) {
    failStep(run, key, { message: messageOf(error), kind: 'node', attempts: 1 });
    return;
  }
  // A digest tells tools apart; here, the canonical text does.
  const { tools } = offeredTools(node, run.world.definitions, canonicalJson);
  // An agent that runs again continues at the turn at which it failed.
  const before = run.agents.get(key);
  const agent: PlayedAgent = {
    ...{ step, node, prepared, tools, loop: createAgentLoop(node, before?.loop.turn) },
    ...{ turns: before?.turns ?? [], ended: false },
  };
  run.agents.set(key, agent);
  perform(run, agent, agent.loop.start());
}

function perform(run: Playing, agent: PlayedAgent, actions: readonly AgentAction[]): void {
  for (const action of actions) {
    switch (action.do) {
      case 'ask':
        startTurn(run, agent, action);
        break;
      case 'call':
        makeCall(run, agent, action);
        break;
      case 'await':
        awaitApproval(run, agent, action);
        break;
      case 'answer':
        agent.ended = true;
        run.book.succeed(agent.step.step_key, action.output);
        run.scheduler.complete(agent.step.step_key, action.output);
        break;
      case 'fail':
        failAgent(run, agent, { message: action.error, kind: 'node', attempts: 1 });
        break;
      default:
        action satisfies never;
    }
  }
}

/** Continues an agent once the run has handled what comes before. */
function later(run: Playing, agent: PlayedAgent, key: string, act: () => void): void {
  const { clock } = run.world;
  run.inFlight.add(key);
  clock.at(clock.now, () => {
    if (run.end !== undefined) return;
    run.inFlight.delete(key);
    if (!agent.ended) act();
    run.proceed();
  });
}

function startTurn(
  run: Playing,
  agent: PlayedAgent,
  { turn, tools }: Extract<AgentAction, { do: 'ask' }>,
): void {
  const { step, node, prepared, turns } = agent;
  const key = turnKey(step.step_key, turn);
  const known = turns[turn - 1];
  if (known !== undefined) {
    later(run, agent, key, () => perform(run, agent, agent.loop.asked(progressOf(known.record))));
    return;
  }
  const entry: StepEntry = {
    ...{ step_key: key, node_id: node.id, label: `${prepared.label}, turn ${turn}` },
    ...{ kind: 'agent', iteration: step.iteration, parent_step_key: step.step_key, turn },
  };
  const input = {
    model: node.model,
    ...(turn === 1 ? prepared.prompts : {}),
    ...prepared.mock,
  };
  if (turn === 1) run.book.find(step.step_key)!.input = input;
  startWork(run, {
    ...{ entry, input, retry: node.retry },
    timeoutSeconds: node.timeout_seconds ?? defaultTimeoutSeconds(node),
    perform: (attempt) => askTurn(run, agent, { turn, tools, place: placeOf(step, attempt) }),
    succeeded: (output) => {
      const record = output as unknown as TurnRecord;
      run.book.succeed(key, shownTurn(record));
      turns[turn - 1] = { record, results: refusals(record) };
      if (!agent.ended) perform(run, agent, agent.loop.asked(progressOf(record)));
    },
    failed: (error) => {
      run.book.fail(key, error);
      failAgent(run, agent, error);
    },
  });
}

/** The results of the calls that are not made. */
function refusals({ calls }: TurnRecord): Map<number, CallResult> {
  return new Map(
    calls.flatMap(({ index, id, tool, refusal }) =>
      refusal === undefined
        ? []
        : [[index, { index, id, tool, content: refusal, isError: true }] as const],
    ),
  );
}

interface Call {
  turn: number;
  call: OpenCall;
}

const recordOf = ({ turns }: PlayedAgent, { turn, call }: Call): RecordedCall =>
  turns[turn - 1]!.record.calls.find(({ index }) => index === call.index)!;

function entryOfCall({ step, node }: PlayedAgent, { turn, call }: Call): StepEntry {
  const { step_key: parent, iteration } = step;
  return {
    ...{ step_key: callKey(parent, turn, call.index), node_id: node.id, label: call.tool },
    ...{ kind: 'tool', iteration, parent_step_key: parent, turn },
    tool_call: { tool: call.tool, index: call.index },
  };
}

function makeCall(run: Playing, agent: PlayedAgent, made: Call): void {
  const { step } = agent;
  const { tool } = made.call;
  const entry = entryOfCall(agent, made);
  const key = entry.step_key;
  if (agent.turns[made.turn - 1]!.results.has(made.call.index)) {
    later(run, agent, key, () => perform(run, agent, agent.loop.settled(made.call.index)));
    return;
  }
  const { arguments: args = {} } = recordOf(agent, made);
  const ends = {
    succeeded: (output: Json) => settle(run, agent, made, { output: shortened(output) }),
    failed: (error: CaughtError) => settle(run, agent, made, { error }),
  };
  const workflow = workflowOf(tool);
  if (workflow === undefined) {
    startWork(run, {
      ...{ entry, input: args, ...ends },
      ...rulesOf(run, { kind: 'tool', tool_name: tool }),
      perform: (attempt) =>
        callTool(run, tool, {
          ...{ args, state: {} },
          place: { ...placeOf(step, attempt), step_key: key, tool },
        }),
    });
    return;
  }
  if (run.world.workflows.has(workflow)) {
    runChild(run, { entry, name: workflow, input: args, retry: undefined, ...ends });
    return;
  }
  const [mock, named] = mockOfWorkflow(run, agent.node.id, workflow);
  startWork(run, {
    ...{ entry, input: args, retry: undefined, timeoutSeconds: undefined, ...ends },
    perform: async (attempt) => {
      const place = { ...placeOf(step, attempt), step_key: key, tool };
      return ofChild(workflow, await answerOf(run, mock, { args, place, named }));
    },
  });
}

/** A call has ended. A failed one is for the model, unless it fails the agent. */
function settle(
  run: Playing,
  agent: PlayedAgent,
  { turn, call }: Call,
  result: { output: Json } | { error: CaughtError },
): void {
  const { step, tools, turns, loop } = agent;
  const { index, tool } = call;
  const key = callKey(step.step_key, turn, index);
  const { id } = recordOf(agent, { turn, call });
  const kept = (content: Json, isError: boolean): void => {
    turns[turn - 1]!.results.set(index, { index, id, tool, content, isError });
  };
  if ('output' in result) {
    run.book.succeed(key, result.output);
    kept(result.output, false);
  } else {
    const { error } = result;
    run.book.fail(key, error);
    // A refusal by the policies is always reported.
    const fails = tools.find(({ name }) => name === tool)?.onError === 'fail';
    if (fails && error.kind !== 'policy') {
      failAgent(run, agent, { ...error, message: `Tool '${tool}' failed: ${error.message}` });
      return;
    }
    kept(error.message, true);
  }
  if (!agent.ended) perform(run, agent, loop.settled(index));
}

function awaitApproval(run: Playing, agent: PlayedAgent, made: Call): void {
  const { step, node, turns, loop } = agent;
  const { turn, call } = made;
  const entry = entryOfCall(agent, made);
  const { step_key: key, iteration } = entry;
  const results = turns[turn - 1]!.results;
  if (results.has(call.index) || run.approved.has(key)) {
    makeCall(run, agent, made);
    return;
  }
  const record = recordOf(agent, made);
  run.book.begin(entry, 'running');
  ask(
    run,
    { step_key: key, node_id: node.id, kind: 'tool', iteration },
    {
      opening: {
        ...{ step_key: key, node_id: node.id, label: call.tool, iteration, round: 1 },
        ...{ prompt: record.question ?? `Call ${call.tool}?`, fails_on_reject: false },
        ...(record.title === undefined ? {} : { title: record.title }),
        redacted: record.arguments ?? {},
        tool_call: { agent_key: step.step_key, turn, call: call.index, tool: call.tool },
      },
      decided: ({ approved, reason, arguments: sent }) => {
        if (agent.ended) return;
        if (approved) {
          if (sent !== undefined) record.arguments = sent;
          run.approved.set(key, { asked: '', sent: record.arguments ?? {} });
          perform(run, agent, loop.approved(call.index));
          return;
        }
        const content = rejectedCall(null, reason);
        run.book.fail(key, { message: content, kind: 'rejected' });
        const { index, tool } = call;
        results.set(index, { index, id: record.id, tool, content, isError: true });
        perform(run, agent, loop.settled(index));
      },
    },
  );
}

/** What is in flight below it ends without changing anything. */
function failAgent(run: Playing, agent: PlayedAgent, error: CaughtError): void {
  // A second call of the same turn can also fail.
  if (agent.ended) return;
  agent.ended = true;
  const { step_key: key } = agent.step;
  for (const [open, { opening }] of run.gates) {
    const { tool_call: call } = opening;
    if (call !== undefined && 'agent_key' in call && call.agent_key === key) run.gates.delete(open);
  }
  failStep(run, key, error);
  if (!run.failures.has(key)) run.agents.delete(key);
}
