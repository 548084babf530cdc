import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { utf8Bytes } from '#shared/values/canonical-json.ts';
import { jsonOf, type JsonText } from '#shared/values/json-text.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { nodeIdOf } from '#shared/graph/schedule/step-key.ts';
import type { RecordedTexts } from './plan.ts';
import { play, type RecordedRun } from './play.ts';

interface NodeStateRequest {
  recorded: RecordedRun;
  /** The graph that contains the node. It may differ from the run's. */
  graph: Graph;
  /** The step whose initial state is computed. */
  stepKey: string;
  /** Merged into that state. */
  state: JsonObject;
  /** Outputs to use instead of the recorded ones, by node id. */
  pins: Record<string, JsonText>;
}

export type NodeStateTexts = Omit<NodeStateRequest, 'recorded' | 'pins'> & {
  recorded: RecordedTexts;
  /** JSON texts. */
  pins: Record<string, string>;
};

/** The state, or why it cannot be computed. */
export type NodeState = { state: JsonObject } | { problem: string };

/** The same limit as for a run's input. */
const MAX_STATE_BYTES = 1_048_576;

/**
 * The state at the start of a step of a run, in this graph. The run is replayed with its recorded results, even those
 * of nodes that have changed; nothing is executed.
 */
export function nodeState({ recorded, graph, stepKey, state, pins }: NodeStateRequest): NodeState {
  const { state: found } = play(pinned(recorded, pins), {
    graph: compileGraph(graph),
    input: recorded.input,
    from: stepKey,
    state,
    refuse: () => undefined,
  });
  if (found === undefined) {
    return {
      problem:
        'with this graph the run does not get there, or a step before it has no result: name another run, ' +
        'pin the outputs of the nodes before it, or send state without run_id',
    };
  }
  const bytes = utf8Bytes(jsonOf(found));
  if (bytes <= MAX_STATE_BYTES) return { state: found };
  return {
    problem: `its state has ${bytes} bytes of JSON, and the limit is ${MAX_STATE_BYTES}: send state without run_id, with what the node reads`,
  };
}

/** The run as if the pinned nodes had returned these outputs in every iteration. */
function pinned(recorded: RecordedRun, pins: Record<string, JsonText>): RecordedRun {
  const outputs = { ...recorded.outputs };
  const caught = { ...recorded.caught };
  const order = new Set(recorded.order);
  const keys = [...Object.keys(outputs), ...Object.keys(caught), ...recorded.failed];
  for (const [nodeId, output] of Object.entries(pins)) {
    const known = keys.filter((key) => nodeIdOf(key) === nodeId);
    for (const key of known.length === 0 ? [nodeId] : known) {
      outputs[key] = output;
      delete caught[key];
      order.add(key);
    }
  }
  return { ...recorded, outputs, caught, order: [...order] };
}
