import { compareUnjudged, type Comparison, type RecordedStep } from '#shared/policies/backtest.ts';
import { WorkLimitError, workThreads } from './threads.ts';

/** The policies of a backtest. */
export interface PoliciesText {
  /** JSON text: it is sent quickly, and is the key of the compiled policies. */
  json: string;
  /** The names that they redact in the same way as the policies in force. */
  inForce: readonly string[];
}

/**
 * The size of one job: a few milliseconds with common policies. Longer jobs would make the workspace pause, and with it
 * the expressions of its runs.
 */
const CHUNK = { steps: 200, characters: 30_000 };

/**
 * Compares recorded steps, each a JSON text, with how these policies judge them. A step that cannot be judged in time
 * counts as refused, as it does when it runs. Waits for a thread without a limit. Throws the signal's reason on abort.
 */
export async function compareStepsUntrusted(
  workspaceId: string,
  policies: PoliciesText,
  steps: readonly string[],
  signal: AbortSignal,
): Promise<Comparison[]> {
  const compared: Comparison[] = [];
  for (const chunk of chunksOf(steps)) {
    compared.push(...(await compareChunk(workspaceId, policies, chunk, signal)));
  }
  return compared;
}

async function compareChunk(
  workspaceId: string,
  { json, inForce }: PoliciesText,
  steps: readonly string[],
  signal: AbortSignal,
): Promise<Comparison[]> {
  const input = { policies: json, inForce, steps };
  try {
    return await workThreads.run(workspaceId, 'compareSteps', input, { signal, patient: true });
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error;
    const [first, ...rest] = steps;
    if (first === undefined) return [];
    if (rest.length === 0) {
      return [compareUnjudged(JSON.parse(first) as RecordedStep, error.message)];
    }
    // One of them takes too long, so each gets the time of a job.
    const alone: Comparison[] = [];
    for (const step of steps) {
      alone.push(...(await compareChunk(workspaceId, { json, inForce }, [step], signal)));
    }
    return alone;
  }
}

function* chunksOf(steps: readonly string[]): Generator<string[]> {
  let chunk: string[] = [];
  let characters = 0;
  for (const step of steps) {
    chunk.push(step);
    characters += step.length;
    if (chunk.length < CHUNK.steps && characters < CHUNK.characters) continue;
    yield chunk;
    chunk = [];
    characters = 0;
  }
  if (chunk.length > 0) yield chunk;
}
