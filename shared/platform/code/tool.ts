import { MAX_CODE_SECONDS } from '#shared/contract/workflows/code-node.ts';
import type { CodeBeginning } from '#shared/db/steps/step-code.ts';
import type { CustomTool } from '#shared/db/tools/custom-tools.ts';
import { type Json, type JsonObject, toStorable } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import { runCode } from './run.ts';
import type { CodeLanguage, CodeProblem } from './source.ts';

/** What surrounds an execution of code: see `NodeCall`. */
export interface CodeSurroundings {
  workspaceId: string;
  begin: () => Promise<CodeBeginning>;
  keepLog: (log: string) => Promise<void>;
  /** Called when it has used up its processor time or memory. */
  exceeded?: (resource: 'time' | 'memory') => void;
  signal: AbortSignal;
}

/**
 * Executes code. The same code with the same argument ends in the same way, so only a timeout is retried. Throws NodeError,
 * WorkBusyError, or the signal's reason on abort.
 */
export async function computeCode(
  { workspaceId, begin, keepLog, exceeded, signal }: CodeSurroundings,
  code: { source: string; language: CodeLanguage; argument: Json; seconds: number },
): Promise<Json> {
  const { source, language, argument, seconds } = code;
  const { clock, seed } = await begin();
  const job = { source, language, argument: JSON.stringify(argument), clock, seed };
  const { result, log, exceeded: resource } = await runCode(workspaceId, job, { seconds, signal });
  if (resource !== undefined) exceeded?.(resource);
  if (log !== '') await keepLog(toStorable(log) as string);
  if ('output' in result) return JSON.parse(result.output) as Json;
  throw new NodeError(textOf(result.problem), {
    retryable: resource === 'time',
    ...(resource === 'time' ? { kind: 'timeout' as const } : {}),
  });
}

/** Executes a custom tool that is code, for at most as long as code can take. Its arguments have been validated. */
export async function computeTool(
  surroundings: CodeSurroundings,
  { source, language }: Pick<CustomTool, 'source' | 'language'>,
  { argument, seconds }: { argument: JsonObject; seconds: number },
): Promise<JsonObject> {
  const value = await computeCode(surroundings, {
    source: source ?? '',
    language,
    argument,
    seconds: Math.min(seconds, MAX_CODE_SECONDS),
  });
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? value : { result: value };
}

const textOf = ({ message, line, column }: CodeProblem): string =>
  line === undefined ? message : `${message} (line ${line}, column ${column})`;
