import type {
  AgentNode,
  CodeNode,
  GateNode,
  GraphNode,
  ToolNode,
  WaitNode,
  WorkflowNode,
} from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { asTool, CODE, isTimer, parseDelay, workflowOf } from '#shared/tools.ts';
import { renderValue } from '#shared/graph/expression/template.ts';
import { settingsOf } from '#shared/graph/gates/gate-settings.ts';
import { approvalOf } from '#shared/graph/node-approval.ts';
import { nodeTexts } from '#shared/graph/node-texts.ts';
import { agentToolsOf } from '#shared/graph/node-tools.ts';
import { prepareTools } from '#shared/graph/prepare/agent.ts';
import { prepareStep, renderParams } from '#shared/graph/prepare/step.ts';
import { agentBounds, surelyAnswers, surelyFails } from './agents.ts';
import { codeAttempts, customFacts, longestMs, toolAttempts } from './attempts.ts';
import { exactly, plus, times, upTo, ZERO } from './bounds.ts';
import { examineCondition, examineLoop, examineMap, transformFails } from './computed.ts';
import { toolBytes } from './conversations.ts';
import { type ChildOf, type Examined, type Examining, NOTHING, SHORT_OUTPUT } from './examined.ts';
import { bytesOf } from './knowledge.ts';
import { type NodeReading, readNode } from './texts.ts';
import { judgeAgent, judgeTool, type KnownParams } from './verdicts.ts';

/** Examines one execution of a node that can be reached. */
export function examine(examining: Examining, at: number, node: GraphNode): Examined {
  const reading = readNode(examining.knowledge, at, node);
  switch (node.kind) {
    case 'agent':
      return examineAgent(examining, at, node, reading);
    case 'tool':
      return asking(node, examineTool(examining, node, reading));
    case 'code':
      return examineCode(examining, node);
    case 'workflow':
      return asking(node, examineCall(examining, node, reading));
    case 'human_gate':
      return examineGate(node, reading);
    case 'wait':
      return examineWait(node, reading);
    case 'condition':
      return examineCondition(examining, node.expression, reading);
    case 'loop':
      return examineLoop(examining, node, reading);
    case 'map':
      return examineMap(examining, node, reading);
    case 'merge':
      return { ...NOTHING, fails: 'never' };
    default:
      return node satisfies never;
  }
}

function examineAgent(
  { request, knowledge, judging, childOf }: Examining,
  at: number,
  node: AgentNode,
  reading: NodeReading,
): Examined {
  const known = knownParams(node, reading);
  const state = node.prompt === undefined ? knowledge.stateAt(at) : undefined;
  const judged = judgeAgent(judging, node, known, state);
  const broken =
    known.broken === true || judged.blocked === 'always' || cannotPrepare(node, reading);
  const fits = reading.isFilled() && judged.blocked === 'never' && !broken;
  const mock = node.mock?.output;
  const bounds = agentBounds(node, {
    prices: request.prices,
    customTools: request.customTools,
    inputBytes:
      judged.params === undefined
        ? sentBytes(node, reading, judging.policies.redactor !== undefined)
        : bytesOf([judged.params, state ?? {}]),
    sent: {
      tools: node.tools === undefined ? 0 : toolBytes(node, request.customTools),
      fixed: fixedBytes(node, reading),
    },
    mockBytes: mock === undefined ? 0 : reading.filledBytes(mock),
    fits,
  });
  let { cost, duration } = bounds;
  const children: Examined['children'] = [];
  for (const [tool, count] of bounds.calls) {
    const workflow = workflowOf(tool);
    if (workflow === undefined) continue;
    const child = childOf({ workflow });
    const run = runBounds(child, count);
    cost = plus(cost, run.cost);
    duration = plus(duration, run.duration);
    children.push(...startedBy(child));
  }
  const mayAsk = approvalGates(node);
  return {
    ...NOTHING,
    fails: broken || surelyFails(node) ? 'always' : fits && surelyAnswers(node) ? 'never' : 'maybe',
    bytes: bounds.bytes,
    cost: broken ? ZERO : cost,
    duration: broken ? ZERO : mayAsk ? { ...duration, max: null } : duration,
    verdicts: judged.verdicts,
    children: broken ? [] : children,
  };
}

/**
 * The maximum size, in bytes, of the arguments that the node sets in one call, for all its tools together. Null:
 * unknown.
 */
const fixedBytes = (node: AgentNode, reading: NodeReading): number | null =>
  agentToolsOf(node).reduce((all: number | null, { fixed = {} }) => {
    const bytes = reading.filledBytes(fixed);
    return all === null || bytes === null ? null : all + bytes;
  }, 0);

/** Whether a person may have to approve a call. */
export const approvalGates = (node: AgentNode): boolean =>
  (node.tools ?? []).some(
    (tool) => typeof tool !== 'string' && (tool.approval ?? 'never') !== 'never',
  );

/** The maximum size of the first request to a model, in bytes. Redaction can make a text longer. */
function sentBytes(
  { system_prompt: system = '', prompt }: AgentNode,
  reading: NodeReading,
  redacts: boolean,
): number | null {
  const first = reading.filledBytes(system);
  const second = prompt === undefined ? null : reading.filledBytes(prompt);
  if (first === null || second === null) return null;
  return (first + second) * (redacts ? REDACTED : 1);
}

/** Whether its texts are known and cannot be rendered. */
function cannotPrepare(node: AgentNode, reading: NodeReading): boolean {
  if (reading.fit() !== 'known') return false;
  try {
    if (node.tools === undefined) prepareStep(node, reading.state, reading.callbacks);
    else prepareTools(node, reading.state, reading.callbacks);
    return false;
  } catch {
    return true;
  }
}

/** `[REDACTED:<name>]` with the longest name can replace a single character. */
const REDACTED = 64;

const runBounds = (
  child: ReturnType<ChildOf>,
  count: number,
): Pick<Examined, 'cost' | 'duration'> => {
  if (child === undefined) return { cost: upTo(null), duration: upTo(null) };
  const { cost, duration } = child.analysis ?? { cost: ZERO, duration: ZERO };
  return {
    cost: times(exactly(count), upTo(cost.max)),
    duration: times(exactly(count), upTo(duration.max)),
  };
};

const startedBy = (child: ReturnType<ChildOf>): Examined['children'] =>
  child?.analysis === undefined ? [] : [child];

/** The known parameters, rendered. `broken`: one of them cannot be rendered. */
function knownParams(
  node: AgentNode | ToolNode | WorkflowNode,
  reading: NodeReading,
): KnownParams & { broken?: boolean } {
  const texts = nodeTexts(node);
  const open = new Set<string>();
  const prefix = node.kind === 'tool' ? 'params.' : node.kind === 'workflow' ? 'input.' : '';
  for (const text of texts) {
    // An expression is sent as written.
    if (text.language === 'expression' || reading.fit([text]) === 'known') continue;
    open.add(nameIn(text.path.slice(prefix.length)));
  }
  try {
    return { params: filled(node, open, reading), open: [...open] };
  } catch {
    return { params: {}, open: [...open], broken: true };
  }
}

/** The first name of a path. */
const nameIn = (path: string): string => /^[^.[]*/.exec(path)![0];

function filled(
  node: AgentNode | ToolNode | WorkflowNode,
  open: ReadonlySet<string>,
  { state, callbacks }: NodeReading,
): JsonObject {
  if (node.kind === 'agent') {
    const { system_prompt, prompt } = node;
    const bare = {
      ...node,
      mock: undefined,
      tools: undefined,
      system_prompt: open.has('system_prompt') ? undefined : system_prompt,
      prompt: open.has('prompt') ? undefined : prompt,
    };
    return prepareStep(bare, state).params;
  }
  const templates = node.kind === 'tool' ? node.params : node.input;
  const known = Object.fromEntries(Object.entries(templates).filter(([key]) => !open.has(key)));
  if (node.kind === 'workflow') return renderValue(known, state) as JsonObject;
  return node.tool_name === 'json_transform'
    ? known
    : renderParams(node.tool_name, known, state, callbacks).params;
}

function examineTool(
  { request, judging, budget }: Examining,
  node: ToolNode,
  reading: NodeReading,
): Examined {
  const known = knownParams(node, reading);
  if (isTimer(node.tool_name)) return examineDelay(known);
  const isCode = customFacts(node.tool_name, request.customTools)?.isCode === true;
  const aliases = isCode ? [CODE] : [];
  const judged = judgeTool(judging, { ...node, params: {} }, known, aliases);
  if (known.broken === true || judged.blocked === 'always') {
    return { ...NOTHING, fails: 'always', verdicts: judged.verdicts };
  }
  const duration = upTo(longestMs(toolAttempts(node, request.customTools)));
  return {
    ...NOTHING,
    fails:
      judged.blocked === 'never' && judging.policies.redactor === undefined
        ? transformFails(node, reading, budget)
        : 'maybe',
    duration,
    verdicts: judged.verdicts,
  };
}

function examineDelay(known: KnownParams & { broken?: boolean }): Examined {
  if (known.broken === true) return { ...NOTHING, fails: 'always' };
  if (known.open.length > 0) return { ...NOTHING, fails: 'maybe', duration: upTo(LONGEST_DELAY) };
  const delay = parseDelay(known.params);
  if ('error' in delay) return { ...NOTHING, fails: 'always' };
  const ms = delay.seconds * 1_000;
  const bytes = SHORT_OUTPUT;
  return { ...NOTHING, fails: 'never', bytes, duration: { min: Math.floor(0.95 * ms), max: ms } };
}

/** Code is never executed here, so nothing is known about its output. */
function examineCode({ judging }: Examining, node: CodeNode): Examined {
  const { id, label } = node;
  const bare = label === undefined ? { id } : { id, label };
  const judged = judgeTool(
    judging,
    { ...bare, kind: 'tool', tool_name: CODE, params: {} },
    { params: {}, open: [] },
  );
  const fails = judged.blocked === 'always' ? 'always' : 'maybe';
  const duration = { min: 0, max: longestMs(codeAttempts(node)) };
  return { ...NOTHING, fails, bytes: null, duration, verdicts: judged.verdicts };
}

/** A wait for a time always ends; one for an event or a callback may have a deadline. */
function examineWait(node: WaitNode, reading: NodeReading): Examined {
  const { seconds, until, timeout_seconds: timeout, on_timeout: action } = node;
  const broken = reading.isFilled() ? 'never' : 'maybe';
  if (until !== undefined) {
    const duration = upTo(LONGEST_DELAY);
    return { ...NOTHING, fails: broken, result: true, bytes: SHORT_OUTPUT, duration };
  }
  if (seconds !== undefined) {
    const delay = examineDelay({
      params: { seconds },
      open: typeof seconds === 'string' ? ['seconds'] : [],
    });
    return { ...delay, result: true };
  }
  const isLate = timeout !== undefined && action !== 'continue';
  return {
    ...NOTHING,
    fails: isLate ? 'maybe' : broken,
    // Anything can come.
    bytes: null,
    result: timeout === undefined ? true : undefined,
    duration: upTo(timeout === undefined ? null : Math.ceil(1_000 * timeout)),
  };
}

const LONGEST_DELAY = 365 * 24 * 3_600_000;

function examineCall(
  { judging, childOf }: Examining,
  node: WorkflowNode,
  reading: NodeReading,
): Examined {
  const { workflow, version, retry } = node;
  const child = childOf({ workflow, version });
  const known = knownParams(node, reading);
  const aliases = child === undefined ? [] : [asTool(child.id), asTool(child.name)];
  const called: ToolNode = { id: node.id, kind: 'tool', tool_name: asTool(workflow), params: {} };
  const { verdicts, blocked } = judgeTool(judging, called, known, aliases);
  if (known.broken === true || blocked === 'always') {
    return { ...NOTHING, fails: 'always', verdicts };
  }
  const attempts = retry?.max_attempts ?? 1;
  const { cost, duration } = runBounds(child, attempts);
  const pauses = longestMs({ most: attempts, timeoutMs: 0, retry });
  return {
    ...NOTHING,
    fails: 'maybe',
    cost,
    duration: plus(duration, upTo(pauses)),
    verdicts,
    children: startedBy(child),
  };
}

/** A step that may need approval can be rejected, and waits for a person. */
function asking(node: ToolNode | WorkflowNode, found: Examined): Examined {
  const approval = approvalOf(node);
  if (approval === undefined || found.fails === 'always') return found;
  const { timeout_seconds: seconds } = approval.settings ?? {};
  const waits = upTo(seconds === undefined ? null : Math.ceil(1_000 * seconds));
  return { ...found, fails: 'maybe', duration: plus(found.duration, waits) };
}

function examineGate(node: GateNode, reading: NodeReading): Examined {
  const { timeout_seconds: seconds } = settingsOf(node) ?? {};
  return {
    ...NOTHING,
    // Without a 'false' edge, a rejection is a failure: see `flow.ts`.
    fails: reading.isFilled() && node.on_timeout !== 'fail' ? 'never' : 'maybe',
    bytes: SHORT_OUTPUT,
    duration: upTo(seconds === undefined ? null : Math.ceil(1_000 * seconds)),
  };
}
