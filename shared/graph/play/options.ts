import type { JsonObject } from '#shared/json.ts';
import type { Mock, MockValue } from './mock.ts';
import type { OpenGate } from './played-run.ts';

/** A graph. Its nodes and edges are checked as the service checks them. */
export interface PlayableGraph {
  nodes?: readonly object[];
  edges?: readonly object[];
}

/** A workflow as a file or the builder has it; without a graph, it cannot be played. */
export interface PlayableWorkflow {
  name?: string | undefined;
  graph?: PlayableGraph | undefined;
  input_schema?: object | null | undefined;
  /** They score a successful run: see `evals` in the result. */
  checks?: readonly object[] | undefined;
}

export type Playable = PlayableGraph | PlayableWorkflow;

/** A turn of a mocked model: it calls tools, or answers. */
export type AgentTurn =
  | { calls: readonly { tool: string; arguments?: object }[] }
  | { output: MockValue };

/** What the function of a mocked agent is asked. */
export interface AskedTurn {
  system_prompt: string;
  prompt: string;
  /** From 1. */
  turn: number;
  /** The results of the calls of earlier turns, oldest first. */
  results: {
    turn: number;
    tool: string;
    arguments: JsonObject | null;
    result: unknown;
    failed: boolean;
  }[];
  /** The names of the tools that it can call now. */
  tools: string[];
}

/** The answer of an agent, its turns one after another, or a function that gives each turn or the answer. */
export type AgentMock =
  | MockValue
  | { turns: readonly AgentTurn[] }
  | ((asked: AskedTurn) => AgentTurn | MockValue | Promise<AgentTurn | MockValue>);

/**
 * The decision at a gate. `timeout`: no one decides before its deadline. In an object, `approved` is true by default;
 * `arguments` replace those of a tool call.
 */
export type Decision =
  | 'approve'
  | 'reject'
  | 'timeout'
  | {
      approved?: boolean;
      /** The answers of the form, merged into the state. */
      input?: object;
      reason?: string;
      arguments?: object;
      /** The digest of the call that was shown: other arguments are refused. */
      digest?: string;
      /** How long the gate is open before; the default is 0. */
      after_seconds?: number;
    };

/** The decision at every opening of a gate, at one opening after another, or a function of the open gate. */
export type Decisions =
  | Decision
  | readonly (Decision | undefined)[]
  | ((gate: OpenGate) => Decision | undefined);

/** An event that a caller sends. */
export interface PlayedEvent {
  name: string;
  data?: object;
  id?: string;
  /** Since the start of the run; the default is 0. */
  after_seconds?: number;
}

/** A custom tool as the service has it. Agents need the schema of the tools that they offer. */
export interface PlayedTool {
  /** With or without `custom:`. */
  name: string;
  label?: string;
  description?: string;
  input_schema?: object | null;
  timeout_seconds?: number;
  retry_count?: number;
}

export interface PlayOptions {
  input?: object;
  mocks?: {
    /** By node: of agents, tools, code and sub-workflows. */
    nodes?: Readonly<Record<string, Mock>>;
    /** By the name of the tool, also for the calls of agents. */
    tools?: Readonly<Record<string, Mock>>;
    /** By node: the turns of agents with tools. */
    agents?: Readonly<Record<string, AgentMock>>;
  };
  /** By node: of gates, and of tools, sub-workflows and agents whose calls need approval. */
  decisions?: Readonly<Record<string, Decisions>>;
  /** In the order in which they are sent. */
  events?: readonly PlayedEvent[];
  /** By node: the bodies that come to the addresses of waits for a callback. */
  callbacks?: Readonly<Record<string, Mock>>;
  /** By the name or id with which the graph calls them: workflows to play as well, or mocks of them. */
  workflows?: Readonly<Record<string, Playable | Mock>>;
  tools?: readonly PlayedTool[];
  clock?: {
    /** An ISO time; the default is 2026-01-01T00:00:00.000Z. */
    start?: string;
  };
}
