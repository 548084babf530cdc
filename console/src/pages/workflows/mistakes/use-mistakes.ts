import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '#console/src/api.ts';
import { chunk } from '#console/src/chunks.ts';
import type { Graph, JsonObject, Workflow } from '#client/index.ts';
import { workflowsKey } from '#console/src/queries/workflows.ts';
import { secretsQuery, toolsQuery } from '#console/src/queries/workspace.ts';
import { beyond, type Mistake, mistakesOf } from './mistakes.ts';

const PAUSE_MS = 250;
const SERVICE_PAUSE_MS = 500;

const loadChecker = chunk(() => import('./checker.ts'));

/** The graph rules; undefined until they are loaded. */
export const useChecker = () =>
  useQuery({ queryKey: ['graph-checker'], queryFn: loadChecker, staleTime: Infinity }).data;

export interface Checked {
  /** Undefined until they are known. */
  mistakes: readonly Mistake[] | undefined;
  /**
   * Whether they are what the service says of this graph. Until it has responded, they are what the browser finds, and
   * what the service said of the graph before.
   */
  confirmed: boolean;
  /** The mistakes in the graph as it is. */
  checkNow: () => readonly Mistake[] | undefined;
  /** The possible names for a tool node. */
  tools: readonly string[];
}

/** The mistakes in the current version of a workflow, which may keep what a new version must not have. */
export const useVersionMistakes = ({ id, graph, input_schema: inputSchema }: Workflow): Checked =>
  useMistakes(id, graph, inputSchema, true);

/** The mistakes in a graph, debounced: at once by the rules that the browser has, and then by the service. */
export function useMistakes(
  workflowId: string,
  graph: Graph,
  inputSchema: JsonObject | null,
  isCurrent = false,
): Checked {
  const { check, tools } = useBrowserCheck();
  const [settled] = useDebouncedValue(graph, PAUSE_MS);
  const [schema] = useDebouncedValue(inputSchema, PAUSE_MS);
  const found = useMemo(() => check(settled, schema), [check, settled, schema]);
  const service = useServiceCheck(workflowId, graph, inputSchema, isCurrent);
  const { answer } = service;
  const onlyService = useMemo(
    () =>
      answer === undefined
        ? []
        : beyond(answer.mistakes, check(answer.graph, answer.inputSchema) ?? []),
    [check, answer],
  );
  const confirmed =
    service.current && answer?.graph === graph && answer.inputSchema === inputSchema;
  return {
    mistakes: useMemo(
      () => (confirmed ? answer.mistakes : found && [...found, ...onlyService]),
      [confirmed, answer, found, onlyService],
    ),
    confirmed,
    checkNow: () => {
      const now = check(graph, inputSchema);
      return now && [...now, ...onlyService];
    },
    tools,
  };
}

function useBrowserCheck() {
  const checker = useChecker();
  const registered = useQuery(toolsQuery).data;
  const secrets = useQuery(secretsQuery).data;
  return useMemo(() => {
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
}

/** What the service says of a graph; of the one before until it has responded. */
function useServiceCheck(
  workflowId: string,
  graph: Graph,
  inputSchema: JsonObject | null,
  isCurrent: boolean,
) {
  const [asked] = useDebouncedValue(graph, SERVICE_PAUSE_MS);
  const [schema] = useDebouncedValue(inputSchema, SERVICE_PAUSE_MS);
  const { data, isPlaceholderData } = useQuery({
    // A graph can be large, and each change makes a new one.
    queryKey: [
      ...workflowsKey,
      'check',
      workflowId,
      numberOf(asked),
      schema && numberOf(schema),
      isCurrent,
    ],
    queryFn: async ({ signal }) => {
      const drawn = isCurrent ? {} : { graph: asked, input_schema: schema };
      const report = await api().validate(workflowId, { ...drawn, signal });
      return { graph: asked, inputSchema: schema, mistakes: mistakesOf(report) };
    },
    placeholderData: keepPreviousData,
    // The answer holds the graph itself, which the comparison by parts would replace.
    structuralSharing: false,
    gcTime: 60_000,
  });
  return { answer: data, current: data !== undefined && !isPlaceholderData };
}

const numbers = new WeakMap<object, number>();
let given = 0;

/** The number of this object in query keys. */
function numberOf(value: object): number {
  const known = numbers.get(value) ?? (given += 1);
  numbers.set(value, known);
  return known;
}
