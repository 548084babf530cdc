import { READABLE_TYPE, RUN_WORKFLOW } from '#shared/execution.ts';

/** Each type adds a hundred series to the metrics of every worker that executes it, until the worker ends. */
const MOST = { perProcess: 300, perWorkspace: 100 };

/** A type has at most 255 characters in Temporal's databases, and 1,000 bytes in its requests. */
const MAX_CHARACTERS = 100;
const UNSEEN = /[\s\p{Cc}\p{Cs}\p{Bidi_Control}]+/gu;

interface NamedRun {
  workspaceId: string;
  workflowId: string;
  workflowName: string;
}

/**
 * Returns a function from a run to its workflow type, which the lists in the Temporal UI show: the name of its workflow
 * on one line, without characters that change the direction of the text. Beyond the maximum number of types, it is
 * `RUN_WORKFLOW`.
 */
export function createRunTypes(most: typeof MOST = MOST): (run: NamedRun) => string {
  const given = new Map<string, Set<string>>();
  let count = 0;
  return (run) => {
    const type = readable(run);
    const own = given.get(run.workspaceId) ?? new Set();
    if (own.has(type)) return type;
    if (own.size >= most.perWorkspace || count >= most.perProcess) return RUN_WORKFLOW;
    given.set(run.workspaceId, own.add(type));
    count += 1;
    return type;
  };
}

function readable({ workflowId, workflowName }: NamedRun): string {
  const name = workflowName.replace(UNSEEN, ' ').trim() || workflowId;
  return READABLE_TYPE + [...name].slice(0, MAX_CHARACTERS).join('').trimEnd();
}

/** The types that this process assigns. */
export const runType = createRunTypes();
