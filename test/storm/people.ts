import { setTimeout as sleep } from 'node:timers/promises';
import type { Act, Acts } from './actions.ts';
import type { Random } from './random.ts';

/** A user of the API, through either process, with one credential. */
export interface Person {
  name: string;
  /** The member id; null for a key without a member. */
  id: string | null;
  headers: Record<string, string>;
  /** For streams. */
  token: string | undefined;
}

export interface Answer {
  outcome: Act['outcome'];
  status: number | null;
  body: any;
  headers: Headers;
}

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** The process to use; default: either. */
  via?: 0 | 1;
  /** Default: 10 s. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const PAUSE_MS = 300;

/** Sends one request. Never rejects. */
export async function ask(
  baseUrl: string,
  person: Person | undefined,
  request: Request,
): Promise<Answer> {
  const { method, path, body, headers = {}, timeoutMs = TIMEOUT_MS } = request;
  try {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...person?.headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    return {
      outcome: outcomeOf(response.status, text),
      status: response.status,
      body: parse(text),
      headers: response.headers,
    };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return {
      outcome: 'unknown',
      status: null,
      body: { detail: String((cause as { code?: string }).code ?? cause) },
      headers: new Headers(),
    };
  }
}

/** The details of a 503 after which something can have been written. */
const MAYBE_WRITTEN = /The change was saved|the outcome is unknown/;

/** Another 503 means that nothing was written; after any other 5xx, the outcome is unknown. */
function outcomeOf(status: number, text: string): Act['outcome'] {
  if (status < 300) return 'acknowledged';
  if (status === 503 && MAYBE_WRITTEN.test(text)) return 'unknown';
  return status < 500 || status === 503 ? 'refused' : 'unknown';
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The workload's client of the service. */
export interface Caller {
  /** A read, retried until a response is below 500; undefined after the timeout. */
  read(person: Person, path: string, timeoutMs?: number): Promise<Answer | undefined>;
  /** An act, sent once and recorded. */
  act(
    person: Person | undefined,
    kind: string,
    request: Request,
    about?: Act['about'],
  ): Promise<Answer & { act: Act }>;
}

export function createCaller(
  apiUrls: readonly [string, string],
  acts: Acts,
  random: Random,
): Caller {
  let count = 0;
  return {
    read: async (person, path, timeoutMs = 15_000) => {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const answer = await ask(random.pick(apiUrls), person, { method: 'GET', path });
        if (answer.status !== null && answer.status < 500) return answer;
        if (Date.now() > deadline) return undefined;
        await sleep(PAUSE_MS);
      }
    },
    act: async (person, kind, request, about = {}) => {
      count += 1;
      const id = `${kind}-${count}`;
      const at = Date.now();
      const via = request.via ?? random.int(0, 1);
      const answer = await ask(apiUrls[via] ?? '', person, request);
      const requestId = answer.headers.get('x-request-id');
      const made = answer.outcome === 'acknowledged' ? answer.body : undefined;
      const runId: unknown = made?.run_id;
      const act = acts.add({
        id,
        kind,
        at,
        until: Date.now(),
        outcome: answer.outcome,
        status: answer.status,
        ...(answer.outcome === 'acknowledged' ? {} : { detail: detailOf(answer.body) }),
        ...(requestId === null ? {} : { requestId }),
        about: {
          by: person?.id ?? null,
          via,
          ...(typeof runId === 'string' ? { runId } : {}),
          ...(typeof made?.id === 'string' ? { madeId: made.id } : {}),
          ...about,
        },
      });
      return { ...answer, act };
    },
  };
}

const detailOf = (body: any): string =>
  typeof body?.detail === 'string' ? body.detail : JSON.stringify(body ?? null).slice(0, 300);
