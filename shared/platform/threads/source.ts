import type { SourceProblem } from '#shared/graph/validate/code.ts';
import type { CodeLanguage } from '#shared/platform/code/source.ts';
import { WorkLimitError, workThreads } from './threads.ts';

/** Why a source cannot be code; see `sourceProblem`. Throws WorkBusyError. */
export async function sourceUntrusted(
  workspaceId: string,
  code: { source: string; language: CodeLanguage },
): Promise<SourceProblem | undefined> {
  try {
    return await workThreads.run(workspaceId, 'source', code);
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error;
    return { message: error.message };
  }
}
