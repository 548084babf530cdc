import type { z } from 'zod';
import {
  graphEdgeSchema,
  graphNodeSchema,
  type Graph,
  type GraphEdge,
  type GraphNode,
  type GraphReport,
} from '#shared/contract/workflows/graph.ts';
import { collectIssues, type Issues } from './issues.ts';
import { isObject, memberOf } from './json-value.ts';
import { hint } from './suggest.ts';
import type { ParseSource } from './validate/code.ts';
import { checkLimits, checkMeaning } from './validate/validate.ts';
import type { ValidationContext } from './validate/context.ts';
import { isDeeperThan, type Json, type JsonObject } from '#shared/json.ts';
import { wording } from '#shared/values/issue-wording.ts';

/** The maximum nesting depth of lists and objects. Deeper values would exhaust the stack of recursive code. */
const MAX_DEPTH = 64;

const EDGE_KEYS = Object.keys(graphEdgeSchema.shape);

/** The keys of a kind of node, in the order of the contract. For an unknown kind, the keys that all kinds share. */
export function nodeKeysOf(kind: Json | undefined): string[] {
  const options = graphNodeSchema.options.map(({ shape }) => shape);
  const named = options.find((shape) => shape.kind.value === kind);
  if (named !== undefined) return Object.keys(named);
  const [first = {}, ...others] = options;
  return Object.keys(first).filter((key) => others.every((shape) => key in shape));
}

const KINDS = graphNodeSchema.options.map((option) => option.shape.kind.value).join(', ');

/** A report, and the graph with its defaults when its shape is valid. */
export interface CheckedGraph extends GraphReport {
  graph?: Graph;
}

/**
 * Validates any JSON as a graph and reports all problems at once, with the path of each invalid part: problems of its
 * shape, its size and, as far as unreadable parts allow, its meaning. `valid` means that it can be compiled and run;
 * warnings do not count. Without `parse`, the sources of code are not parsed. Never throws.
 */
export function checkGraph(
  value: unknown,
  context: ValidationContext,
  parse?: ParseSource,
): CheckedGraph {
  const issues = collectIssues();
  const json = value as Json | undefined;
  if (!isObject(json)) {
    issues.error('not_a_graph', 'A graph is an object with `nodes` and `edges`');
    return issues.report();
  }
  if (isDeeperThan(json, MAX_DEPTH)) {
    issues.error('too_deep', `The graph has more than ${MAX_DEPTH} levels of lists and objects`);
    return issues.report();
  }
  for (const key of unknownKeys(json)) {
    issues.error('unknown_key', `Unknown key '${key}'`, { path: key });
  }
  const nodes = readList(issues, json, 'nodes');
  const edges = readList(issues, json, 'edges');
  if (nodes === undefined || edges === undefined) return issues.report();
  if (!checkLimits(issues, nodes.length, edges.length, json)) return issues.report();
  const read = { nodes: readNodes(issues, nodes), edges: readEdges(issues, edges) };
  const graph: Graph = {
    nodes: read.nodes.map(({ node }) => node),
    edges: read.edges.map(({ edge }) => edge),
  };
  const unreadable = new Set(read.nodes.flatMap(({ known }, at) => (known ? [] : [at])));
  checkMeaning(withEdgePaths(issues, read.edges), graph, context, unreadable, parse);
  const report = issues.report();
  const shaped =
    read.edges.length === edges.length &&
    [...read.nodes, ...read.edges].every((part) => part.shaped) &&
    unknownKeys(json).length === 0;
  return shaped ? { ...report, graph } : report;
}

function unknownKeys(graph: JsonObject): string[] {
  return Object.keys(graph).filter((key) => key !== 'nodes' && key !== 'edges');
}

function readList(issues: Issues, graph: JsonObject, key: 'nodes' | 'edges'): Json[] | undefined {
  const list = Object.hasOwn(graph, key) ? graph[key] : [];
  if (Array.isArray(list)) return list;
  issues.error('invalid_value', `\`${key}\` must be a list`, { path: key });
  return undefined;
}

interface ReadNode {
  node: GraphNode;
  /** Whether it is the original node. */
  shaped: boolean;
  /** Whether its kind is known. A node of unknown kind only keeps its position. */
  known: boolean;
}

function readNodes(issues: Issues, nodes: readonly Json[]): ReadNode[] {
  return nodes.map((value, at) => {
    const parsed = graphNodeSchema.safeParse(value);
    if (parsed.success) return { node: parsed.data, shaped: true, known: true };
    const given = memberOf(value, 'id');
    const id = typeof given === 'string' ? given : undefined;
    const keys = nodeKeysOf(memberOf(value, 'kind'));
    for (const issue of parsed.error.issues.flatMap(meantIssues)) {
      reportShape(issues, issue, { base: `nodes[${at}]`, nodeId: id, keys });
    }
    const repaired = repairNode(value, parsed.error.issues);
    // No id can start with a space, so the replacement's id is unique.
    const node: GraphNode = { ...(repaired ?? { kind: 'merge' }), id: id ?? ` ${at}` };
    return { node, shaped: false, known: repaired !== undefined };
  });
}

/**
 * The node without its invalid fields, so that its other problems are reported at the same time; undefined when its
 * kind is unknown.
 */
function repairNode(value: Json, issues: readonly z.core.$ZodIssue[]): GraphNode | undefined {
  if (!isObject(value)) return undefined;
  const kept = new Map(Object.entries(value));
  for (const issue of issues) {
    const [part] = issue.path;
    if (part !== undefined) kept.delete(String(part));
    else if (issue.code === 'unrecognized_keys') for (const key of issue.keys) kept.delete(key);
  }
  if (!kept.has('kind')) return undefined;
  if (Object.hasOwn(value, 'tools') && !kept.has('tools')) {
    for (const option of needTools) kept.delete(option);
  }
  const rest = { ...Object.fromEntries(kept), id: 'stand_in' };
  // Tried in this order: without invalid fields, with a valid expression, and as a bare agent.
  for (const attempt of [
    rest,
    { ...rest, expression: 'true' },
    { kind: 'agent', id: 'stand_in' },
  ]) {
    const parsed = graphNodeSchema.safeParse(attempt);
    if (parsed.success) return parsed.data;
  }
  return undefined;
}

/** Fields of an agent that would only be reported because the tools are unreadable. */
const needTools = ['max_turns', 'tool_choice', 'on_max_turns', 'mock'];

/**
 * The problems of a value that can have several forms, such as a name or an object: those of the form that it was most
 * likely meant to have.
 */
function meantIssues(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const meant = issue.errors.find(
    (form) =>
      form.length > 0 &&
      form.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  if (meant === undefined) return [issue];
  return meant.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

interface ReadEdge {
  edge: GraphEdge;
  at: number;
  shaped: boolean;
}

function readEdges(issues: Issues, edges: readonly Json[]): ReadEdge[] {
  return edges.flatMap((value, at): ReadEdge[] => {
    const parsed = graphEdgeSchema.safeParse(value);
    if (parsed.success) return [{ edge: parsed.data, at, shaped: true }];
    for (const issue of parsed.error.issues) {
      reportShape(issues, issue, { base: `edges[${at}]`, keys: EDGE_KEYS });
    }
    const source = memberOf(value, 'source');
    const target = memberOf(value, 'target');
    if (typeof source !== 'string' || typeof target !== 'string') return [];
    // Read as intended, so that a loop whose edge has `true` instead of 'true' is not also reported as a cycle.
    const edge: GraphEdge = { source, target };
    const when = memberOf(value, 'condition_value');
    if (when === true || when === 'true') edge.condition_value = 'true';
    if (when === false || when === 'false') edge.condition_value = 'false';
    return [{ edge, at, shaped: false }];
  });
}

function reportShape(
  issues: Issues,
  issue: z.core.$ZodIssue,
  { base, nodeId, keys }: { base: string; nodeId?: string | undefined; keys: readonly string[] },
): void {
  const path =
    base +
    issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  const place = nodeId === undefined ? {} : { node_id: nodeId };
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) {
      const meant = issue.path.length === 0 ? hint(key, keys) : '';
      issues.error('unknown_key', `${path}: unknown key '${key}'${meant}`, {
        ...place,
        path: `${path}.${key}`,
      });
    }
  } else if (issue.code === 'invalid_union' && issue.path.at(-1) === 'kind') {
    issues.error('unknown_kind', `${path}: the kinds of nodes are ${KINDS}`, { ...place, path });
  } else {
    issues.error('invalid_value', `${path} ${wording(issue.message)}`, { ...place, path });
  }
}

/** Unreadable edges are missing from the graph; paths use an edge's original position. */
function withEdgePaths(issues: Issues, edges: readonly { at: number }[]): Issues {
  const placed = (path: string | undefined): string | undefined =>
    path?.replace(/^edges\[(\d+)\]/, (_, index: string) => `edges[${edges[Number(index)]!.at}]`);
  return {
    error: (code, message, place = {}) =>
      issues.error(
        code,
        message,
        place.path === undefined ? place : { ...place, path: placed(place.path) },
      ),
    warning: (code, message, place = {}) =>
      issues.warning(
        code,
        message,
        place.path === undefined ? place : { ...place, path: placed(place.path) },
      ),
    report: () => issues.report(),
  };
}
