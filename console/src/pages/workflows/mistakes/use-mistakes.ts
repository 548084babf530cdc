import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Graph, JsonObject } from '#client/index.ts';
import { secretsQuery, toolsQuery } from '#console/src/queries/workspace.ts';
import type { Mistake } from './mistakes.ts';

const PAUSE_MS = 250;

const loadChecker = () => import('./checker.ts');

/** The graph rules; undefined until they are loaded. */
export const useChecker = () =>
  useQuery({ queryKey: ['graph-checker'], queryFn: loadChecker, staleTime: Infinity }).data;

/**
 * The mistakes in a graph, debounced; undefined until they are known. `checkNow` returns those in the graph as it is.
 * `tools` are the possible names for a tool node.
 */
export function useMistakes(
  graph: Graph,
  inputSchema: JsonObject | null,
): {
  mistakes: readonly Mistake[] | undefined;
  checkNow: () => readonly Mistake[] | undefined;
  tools: readonly string[];
} {
  const checker = useChecker();
  const registered = useQuery(toolsQuery).data;
  const secrets = useQuery(secretsQuery).data;
  const [settled] = useDebouncedValue(graph, PAUSE_MS);
  const [schema] = useDebouncedValue(inputSchema, PAUSE_MS);
  const known = useMemo(() => {
    // Without the lists of custom tools and secrets, all of them would be reported as unknown.
    if (checker === undefined || registered === undefined || secrets === undefined) {
      return { check: () => undefined, tools: [] };
    }
    return {
      check: (draft: Graph, input: JsonObject | null) =>
        checker.checkDraft(draft, registered, secrets, input),
      tools: checker.toolNames(registered),
    };
  }, [checker, registered, secrets]);
  const mistakes = useMemo(() => known.check(settled, schema), [known, settled, schema]);
  return { mistakes, checkNow: () => known.check(graph, inputSchema), tools: known.tools };
}
