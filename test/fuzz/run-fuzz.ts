import { readFileSync } from 'node:fs';
import { createRandom, type Random } from '#test/storm/random.ts';
import { type Answer, createChecker, type Problem } from './checker.ts';
import type { FuzzRequest, RequestClass } from './draft.ts';
import { type Operation, operationsOf, type Surface } from './document.ts';
import { type Failure, keyOf, shrink } from './failures.ts';
import { keepHouse } from './housekeeping.ts';
import { compose } from './requests.ts';
import { createSender, fromManyAddresses, type Sender } from './send.ts';
import { lacking, restock } from './stock.ts';
import type { FuzzedService } from './target.ts';
import { createState, kindOf, type State } from './state.ts';

export interface FuzzOptions {
  service: FuzzedService;
  seed: string;
  requests: number;
  /** Called periodically with the progress. */
  say?: (line: string) => void;
}

export interface OperationTally {
  sent: number;
  succeeded: number;
  /** The total time of its responses. */
  ms: number;
  /** The last refusals, for operations that never succeed. */
  refusals: string[];
}

export interface FuzzResult {
  seed: string;
  requests: number;
  seconds: number;
  classes: Record<RequestClass, number>;
  surfaces: Record<Surface, number>;
  /** The number of requests with an id from an earlier response. */
  linked: number;
  statuses: Record<number, number>;
  operations: Map<string, OperationTally>;
  /** Calls of each MCP tool, and how many of them succeeded. */
  tools: Map<string, { called: number; succeeded: number }>;
  /** Requests that the document allows but that were refused as invalid, by operation and detail. */
  refused: Map<string, number>;
  failures: Failure[];
  /** Megabytes of each process: after warm-up, and the maximum. */
  memory: Record<string, { warm: number; most: number }>;
}

/**
 * Concurrent requests. Responses are processed in the order of their requests, however late they arrive, so that the
 * same responses always lead to the same requests.
 */
const AT_ONCE = 20;
const HOUSEKEEPING_EVERY = 300;
const LOOK_EVERY = 600;
const HEALTH_MS = 5_000;
/** More memory means a leak, or that one request takes everyone's share. */
const MAX_MEGABYTES = 1_500;
/** Consecutive requests without a response after which the run ends. */
const MAX_SILENT = 40;

/** Sends `requests` requests and checks every response. Rejects if the service is unreachable. */
export async function runFuzz({ service, seed, requests, say }: FuzzOptions): Promise<FuzzResult> {
  const began = performance.now();
  const operations = Object.values(service.documents).flatMap(operationsOf);
  const byName = new Map(operations.map((each) => [each.name, each]));
  const checker = createChecker(service.documents, service.tools);
  const sender = createSender(service.url);
  const state = createState();
  const { outside } = service;
  let { stock } = service;
  state.protect(...service.own);
  const failures = new Map<string, Failure>();
  const result: FuzzResult = {
    seed,
    requests: 0,
    seconds: 0,
    classes: { valid: 0, boundary: 0, invalid: 0 },
    surfaces: { operations: 0, data: 0, mcp: 0, hooks: 0 },
    linked: 0,
    statuses: {},
    operations: new Map(
      operations.map(({ name }) => [name, { sent: 0, succeeded: 0, ms: 0, refusals: [] }]),
    ),
    tools: new Map(service.tools.map(({ name }) => [name, { called: 0, succeeded: 0 }])),
    refused: new Map(),
    failures: [],
    memory: {},
  };

  const note = async (problem: Problem, request: FuzzRequest): Promise<void> => {
    const key = keyOf(problem);
    const known = failures.get(key);
    if (known !== undefined) known.count += 1;
    else {
      failures.set(key, { ...problem, request, count: 1 });
      const smallest = await shrink(request, problem, { sender, checker });
      failures.set(key, { ...problem, request: smallest, count: 1 });
      say?.(`request ${request.number}: ${key}: ${problem.problem.slice(0, 300)}`);
    }
  };

  let silent = 0;
  const judge = async (request: FuzzRequest, answer: Answer): Promise<void> => {
    count(result, request, answer);
    for (const problem of checker.check(request, answer)) await note(problem, request);
    silent = answer.status === 0 ? silent + 1 : 0;
    if (answer.status === 0) return;
    countTool(result, request, answer);
    learn(state, request, answer);
    const { operation } = request;
    if (operation === undefined || request.class === 'invalid' || answer.status !== 400) return;
    if (!checker.allows(operation, request.json)) return;
    const why = `${operation.name}: ${detailOf(answer).slice(0, 120)}`;
    result.refused.set(why, (result.refused.get(why) ?? 0) + 1);
  };

  try {
    const house = { sender: fromManyAddresses(sender), state, owner: service.cast.owner };
    let request: FuzzRequest | undefined;
    const inFlight: { request: FuzzRequest; answer: Promise<Answer> }[] = [];
    const settle = async (remaining: number): Promise<void> => {
      while (inFlight.length > remaining) {
        const oldest = inFlight.shift()!;
        await judge(oldest.request, await oldest.answer);
      }
    };
    for (let number = 1; number <= requests && silent < MAX_SILENT; number += 1) {
      if (lacking(stock, state).length > 0) {
        await settle(0);
        const serial = `s${seed}x${number}`.toLowerCase();
        try {
          await restock({ house, stock, outside, operations: byName, serial });
        } catch (error) {
          if (request === undefined) throw error;
          const problem = error instanceof Error ? error.message : String(error);
          await note({ operation: 'the service', status: 0, at: 'stock', problem }, request);
          // Continue with the objects known so far.
          stock = [];
        }
      }
      const random = createRandom(`${seed}/${number}`);
      request = compose(choose(operations, result, random), number, {
        state,
        random,
        outside,
        serial: `f${seed}x${number}`,
        cast: service.cast,
        tools: service.tools,
        operations: byName,
      });
      inFlight.push({ request, answer: sender.send(request) });
      const isLast = number === requests;
      await settle(isLast ? 0 : AT_ONCE - 1);
      if (number % HOUSEKEEPING_EVERY === 0) await keepHouse(house);
      if (number % LOOK_EVERY === 0 || isLast) {
        for (const problem of await look(service, sender, result)) await note(problem, request);
        say?.(progress(number, requests, began, failures.size));
      }
    }
  } finally {
    sender.close();
  }
  return {
    ...result,
    seconds: (performance.now() - began) / 1_000,
    failures: [...failures.values()],
  };
}

const progress = (sent: number, all: number, began: number, failures: number): string =>
  `${sent} of ${all} requests, ${Math.round(sent / ((performance.now() - began) / 1_000))} a second, ${failures} failures`;

/** Password hashing and scans of a whole log would take all of the time. */
const costly = /\/auth\/(?:login|signup|accept-invite|password)$|\/audit\/verify$|\/exports$/;

/** Operations that represent many, or that create objects for others. */
const favoured: Record<string, number> = {
  mcp: 8,
  receiveEvent: 5,
  triggerRun: 3,
  ingestRecords: 3,
};

/** Prefers operations that have not succeeded yet; chooses costly and destructive ones less often. */
function choose(
  operations: readonly Operation[],
  { operations: tallies }: FuzzResult,
  random: Random,
): Operation {
  return random.weighted(
    operations.map((operation) => {
      const succeeded = tallies.get(operation.name)?.succeeded ?? 0;
      const urgency = succeeded === 0 ? 3 : 1;
      const weight = costly.test(operation.path) ? 0.25 : operation.method === 'DELETE' ? 0.4 : 1;
      return [urgency * weight * (favoured[operation.id] ?? 1), operation] as const;
    }),
  );
}

function count(result: FuzzResult, request: FuzzRequest, answer: Answer): void {
  result.requests += 1;
  result.classes[request.class] += 1;
  result.surfaces[request.surface] += 1;
  const { status } = answer;
  result.statuses[status] = (result.statuses[status] ?? 0) + 1;
  if (namesAnId(request)) result.linked += 1;
  const tally = request.operation && result.operations.get(request.operation.name);
  if (tally === undefined) return;
  tally.sent += 1;
  tally.ms += answer.ms;
  if (status >= 101 && status < 300) tally.succeeded += 1;
  else if (tally.succeeded === 0) {
    tally.refusals = [...tally.refusals, `${status} ${detailOf(answer)}`].slice(-3);
  }
}

function countTool({ tools }: FuzzResult, { operation, json }: FuzzRequest, answer: Answer): void {
  if (operation?.surface !== 'mcp') return;
  const name: unknown = (json as { params?: { name?: unknown } } | undefined)?.params?.name;
  const tally = typeof name === 'string' ? tools.get(name) : undefined;
  if (tally === undefined) return;
  tally.called += 1;
  const result: unknown = parse(answer.body)?.result;
  if (typeof result === 'object' && result !== null && 'structuredContent' in result) {
    tally.succeeded += 1;
  }
}

/** Long bodies are skipped: they are mostly long texts. */
function namesAnId({ path, bytes }: FuzzRequest): boolean {
  const body = bytes === undefined || bytes.length > 10_000 ? '' : bytes.toString();
  return (`${path} ${body}`.match(/\b[a-z]{2,4}_[0-9a-z]{26}(?:_\d+)?/g) ?? []).some(
    (id) => kindOf(id) !== undefined,
  );
}

function learn(state: State, request: FuzzRequest, answer: Answer): void {
  const { operation, path, json } = request;
  if (operation === undefined || answer.status >= 300) return;
  if (operation.method === 'DELETE') {
    state.forget(path);
    return;
  }
  if (!String(answer.headers['content-type']).includes('json')) return;
  state.learn(operation, { path, body: json }, parse(answer.body));
}

const parse = (body: Buffer): any => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
};

const detailOf = ({ body }: Answer): string => String(parse(body)?.detail ?? '').slice(0, 300);

/** Checks the health of the service: its health response and its memory. */
async function look(
  { processes }: FuzzedService,
  sender: Sender,
  result: FuzzResult,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const health = await sender.send({ method: 'GET', path: '/api/health', headers: {} });
  const problem = (at: string, text: string) =>
    problems.push({ operation: 'the service', status: health.status, at, problem: text });
  if (health.status !== 200) problem('health', 'does not answer 200');
  else if (health.ms > HEALTH_MS) problem('health', `took ${Math.round(health.ms)} ms`);
  for (const [name, { pid }] of Object.entries(processes)) {
    const megabytes = residentMegabytes(pid);
    if (megabytes === undefined) continue;
    const { warm, most } = result.memory[name] ?? { warm: megabytes, most: 0 };
    result.memory[name] = { warm, most: Math.max(most, megabytes) };
    if (megabytes > MAX_MEGABYTES) problem(`memory of ${name}`, `is ${megabytes} MB`);
  }
  return problems;
}

/** From /proc on Linux; undefined elsewhere, or if the process is gone. */
function residentMegabytes(pid: number): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1_024);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
