import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { utf8Bytes } from '#shared/values/canonical-json.ts';
import { jsonOf, type JsonText } from '#shared/values/json-text.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { nodeIdOf } from '#shared/graph/schedule/scheduler.ts';
import type { RecordedTexts } from './plan.ts';
import { play, type RecordedRun } from './play.ts';

interface NodeStateRequest {
  recorded: RecordedRun;
  /** The graph that has the node: it may differ from that of the run. */
  graph: Graph;
  /** The step that begins with the state. */
  stepKey: string;
  /** Laid over it. */
  state: JsonObject;
  /** Outputs instead of the recorded ones, by node id. */
  pins: Record<string, JsonText>;
}

export type NodeStateTexts = Omit<NodeStateRequest, 'recorded' | 'pins'> & {
  recorded: RecordedTexts;
  /** JSON texts. */
  pins: Record<string, string>;
};

/** The state, or why there is none. */
export type NodeState = { state: JsonObject } | { problem: string };

/** As much as a run accepts as its input. */
const MAX_STATE_BYTES = 1_048_576;

/**
 * The state with which a step of a run begins, in this graph: the run is played with its recorded results, also
 * those of nodes that have changed, and nothing is executed.
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

/** The run as if the pinned nodes had had these outputs, in every iteration. */
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
