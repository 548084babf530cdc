import { canonicalJson } from '#shared/values/canonical-json.ts';
import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { ChildCall, ChildPlace } from '#shared/graph/children/child-call.ts';
import { renderTemplate, renderValue } from '#shared/graph/expression/template.ts';
import { isChild, isExecuted, isWait, isWaiting } from '#shared/graph/kinds.ts';
import { prepareTools, prepareTurn } from '#shared/graph/prepare/agent.ts';
import { type PreparedStep, prepareStep } from '#shared/graph/prepare/step.ts';
import { type Callbacks, NO_CALLBACKS } from '#shared/graph/waits/callbacks.ts';
import { waitsFor } from '#shared/graph/waits/prepare.ts';

/** What a step does, as texts. Equal fingerprints mean the same node with the same input. */
export interface Fingerprint {
  /** The settings of the node, without its templates. */
  node: string;
  /** The rendered templates, and the part of the state that the step reads. */
  input: string;
}

/** Fields that do not affect the result of a step. */
const withoutEffect = ['label', 'retry', 'timeout_seconds', 'position', 'approval'];

/**
 * The fingerprint of a step that begins with this state. The values of secrets and the addresses of callbacks are
 * not part of it. Throws TemplateError
 * or ExpressionError when a template of the node cannot be rendered with the state.
 */
export const fingerprintOf = (
  node: GraphNode,
  state: JsonObject,
  callbacks: Callbacks = NO_CALLBACKS,
): Fingerprint => toTexts(contentOf(node, state, callbacks));

function toTexts({ settings, input }: Content): Fingerprint {
  const counted = Object.entries(settings).filter(([name]) => !withoutEffect.includes(name));
  return { node: canonicalJson(Object.fromEntries(counted)), input: canonicalJson(input) };
}

function contentOf(node: GraphNode, state: JsonObject, callbacks: Callbacks): Content {
  if (node.kind === 'agent' && node.tools !== undefined) {
    return executedContent(
      prepareTurn(prepareTools(node, state, callbacks), { step_key: '', turn: 1 }),
    );
  }
  if (isExecuted(node)) return executedContent(prepareStep(node, state, callbacks));
  if (isChild(node)) {
    const { id, workflow, version } = node;
    return childContent({ node_id: id, workflow, version }, renderValue(node.input, state));
  }
  if (isWaiting(node)) {
    const { prompt, ...settings } = node;
    return { settings, input: { prompt: renderTemplate(prompt, state) } };
  }
  if (isWait(node)) {
    const { seconds, until, ...settings } = node;
    return { settings, input: waitsFor(node, state) };
  }
  throw new Error(`Node ${node.id} is computed: it has no fingerprint`);
}

interface Content {
  settings: object;
  input: object;
}

/** An executed step; for an agent with tools, its first turn. */
type Executed = Pick<PreparedStep, 'node' | 'params' | 'secrets' | 'state' | 'agent'>;

const executedContent = ({ node, params, secrets, state, agent }: Executed): Content => ({
  settings: node,
  input: { params, secrets, state, fixed: agent?.fixed, read: agent?.state },
});

type Called = Pick<ChildPlace, 'node_id'> &
  Pick<ChildCall, 'workflow'> & { version?: number | undefined };

const childContent = (settings: Called, input: Json): Content => ({ settings, input: { input } });

/** The fingerprint of a step that is about to be executed; for an agent with tools, of its first turn. */
export const fingerprintOfCall = (call: Executed): Fingerprint => toTexts(executedContent(call));

/** The fingerprint of a step that is about to start a run. */
export const fingerprintOfChild = ({ node_id, workflow, version, input }: ChildCall): Fingerprint =>
  toTexts(childContent({ node_id, workflow, version }, input));
