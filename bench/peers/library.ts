import { basename } from 'node:path';
import type { Child } from '../../scripts/stack/children.ts';
import { freePorts } from '../../scripts/stack/ports.ts';
import { createCall } from '../api-client.ts';
import type { Processes } from '../processes.ts';
import { query, type Stack } from '../stack.ts';
import type { FloodRequest, FloodResponse } from './serve.ts';

/** The same number of connections to Postgres as in a process of the service. */
const poolSize = 20;

interface Library {
  /** Executes `runs` runs with at most `inFlight` at once; returns how long all of them took, in ms. */
  flood(runs: number, inFlight: number): Promise<number>;
  child: Child;
}

/**
 * Starts a program, a library and its caller in one process, with a separate database. Both are named after the script.
 */
export async function startLibrary(
  stack: Stack,
  processes: Processes,
  script: string,
): Promise<Library> {
  const name = basename(script, '.ts');
  await query(stack.databaseUrl, `CREATE DATABASE ${name}`);
  const database = new URL(stack.databaseUrl);
  database.pathname = `/${name}`;
  const [port = 0] = await freePorts(1);
  const child = await processes.startNode({
    name,
    script,
    env: {
      ...stack.environment,
      PORT: String(port),
      DATABASE_URL: database.href,
      DATABASE_POOL_SIZE: String(poolSize),
      // The shell's settings could make the library report its runs to a server elsewhere.
      LANGSMITH_TRACING: 'false',
      LANGCHAIN_TRACING_V2: 'false',
    },
  });
  const call = createCall(`http://127.0.0.1:${port}`);
  return {
    flood: async (runs, inFlight) => {
      const request: FloodRequest = { runs, in_flight: inFlight };
      return (await call<FloodResponse>('POST', '/flood', request)).ms;
    },
    child,
  };
}
