import { chain } from '../graphs.ts';
import { cpuOf, type Stack } from '../stack.ts';
import { flood } from '../statistics.ts';
import type { Processes } from '../processes.ts';
import { startLibrary } from './library.ts';
import { startRestate } from './restate-server.ts';

/** A started product that executes runs of three steps. */
export interface Running {
  /** Executes `runs` runs with at most `inFlight` at once; returns how long all of them took, in ms. */
  flood(runs: number, inFlight: number): Promise<number>;
  /** Processor time that its processes have used so far, in ms; empty if the system does not report it. */
  cpu(): Record<string, number>;
}

export interface System {
  name: string;
  /** What its figures include and leave out. */
  scope: string;
  /** Rejects if it cannot be started on this machine. */
  start(stack: Stack, processes: Processes): Promise<Running>;
}

/** The other rows are compared with it. */
export const ours: System = {
  name: 'this service',
  scope:
    'HTTP API and WebSocket, admission with quota and budgets, policies, records of the run and of each step in Postgres, live events and the audit log.',
  async start(stack) {
    const workflow = await stack.service.define('Three tools', chain(3));
    return {
      flood: (runs, inFlight) => flood(runs, inFlight, () => stack.service.run(workflow)),
      cpu: partsOf(stack, ['api', 'worker', 'postgres', 'temporal']),
    };
  },
};

export const peers: readonly System[] = [
  {
    name: 'Temporal, 3 activities',
    scope: 'No API, admission, budgets, policies, records in Postgres, live events or audit log.',
    start: (stack) => bare(stack, 'activities'),
  },
  {
    name: 'Temporal, 3 local activities',
    scope:
      'As with activities. The server stores the results of the three steps together: after a crash of the worker before that, all three repeat.',
    start: (stack) => bare(stack, 'local activities'),
  },
  {
    name: 'DBOS',
    scope:
      'A library in the process of its caller. It stores the result of each step in Postgres. No API, admission, budgets, policies, live events or audit log.',
    start: (stack, processes) => library(stack, processes, 'bench/peers/programs/dbos.ts'),
  },
  {
    name: 'LangGraph',
    scope:
      'A library in the process of its caller. It stores a checkpoint per step in Postgres, and after a crash the caller has to continue the run. No API, admission, budgets, policies, live events or audit log.',
    start: (stack, processes) => library(stack, processes, 'bench/peers/programs/langgraph.ts'),
  },
  {
    name: 'Restate',
    scope:
      'A server with an HTTP API. It stores the result of each step in its own files. No admission, budgets, policies, records in Postgres, live events or audit log.',
    async start(stack, processes) {
      const { run, children } = await startRestate(stack, processes);
      return {
        flood: (runs, inFlight) => flood(runs, inFlight, run),
        cpu: () => cpuOf(children),
      };
    },
  },
];

async function library(stack: Stack, processes: Processes, script: string): Promise<Running> {
  const { flood: floodLibrary, child } = await startLibrary(stack, processes, script);
  const postgres = partsOf(stack, ['postgres']);
  return { flood: floodLibrary, cpu: () => ({ ...postgres(), ...cpuOf([child]) }) };
}

async function bare(stack: Stack, lane: Parameters<Stack['bare']['run']>[1]): Promise<Running> {
  return {
    flood: (runs, inFlight) => flood(runs, inFlight, () => stack.bare.run(3, lane)),
    cpu: partsOf(stack, ['bare-worker', 'temporal']),
  };
}

/** The processor time of some processes of the stack. */
function partsOf(stack: Stack, names: readonly string[]): Running['cpu'] {
  return () =>
    Object.fromEntries(Object.entries(stack.cpu()).filter(([name]) => names.includes(name)));
}
