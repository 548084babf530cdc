import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { runPlaces } from './run-places.ts';
import {
  isTracing,
  newSpanId,
  type ParentSpan,
  recordSpan,
  type SpanAttributes,
  type SpanPlace,
} from './spans.ts';

/** An API request in progress, whose span is recorded after its response. */
export interface TracedRequest {
  startedAt: number;
  /** Its trace is its caller's, or else that of the first run that it changes, or else a new one. */
  place: SpanPlace;
  parent: ParentSpan | undefined;
  links: SpanPlace[];
  /** Whether its trace is final. */
  joined: boolean;
}

const current = new AsyncLocalStorage<TracedRequest>();

/** `traceparent` as in W3C Trace Context; an invalid one is ignored. */
export function openRequest(traceparent: string | string[] | undefined): TracedRequest {
  const parent = typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
  const traceId = parent?.traceId ?? randomBytes(16).toString('hex');
  return {
    startedAt: Date.now(),
    place: { traceId, spanId: newSpanId() },
    parent,
    links: [],
    joined: parent !== undefined,
  };
}

/** Everything that `work` starts or changes belongs to this request. */
export const inRequest = <T>(request: TracedRequest, work: () => T): T =>
  current.run(request, work);

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

function parseTraceparent(text: string): ParentSpan | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(text) ?? [];
  // Only later versions can have more fields.
  if (version === undefined || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, remote: { sampled: (Number.parseInt(flags, 16) & 1) === 1 } };
}

/**
 * Records that a run was started, or resumed for the `resumes`-th time, in the run's trace. Without a caller's trace,
 * the request joins the run's trace as the parent. Otherwise the two are linked, so that no caller determines a run's
 * trace.
 */
export function recordStart(start: {
  runId: string;
  resumes: number;
  startedAt: number;
  attributes: SpanAttributes;
}): void {
  if (!isTracing()) return;
  const { runId, resumes, startedAt } = start;
  const { start: place } = runPlaces(runId, resumes);
  const first = resumes === 0 ? undefined : runPlaces(runId, 0).start;
  const request = current.getStore();
  const joined = request !== undefined && join(request, place, first);
  recordSpan({
    name: resumes === 0 ? 'start_run' : 'resume_run',
    kind: 'producer',
    place,
    parent: joined ? request.place : first,
    startedAt,
    endedAt: Math.max(startedAt, Date.now()),
    attributes: { 'ops.run_id': runId, ...start.attributes },
    links: request === undefined || joined ? [] : [{ ...request.place }],
  });
}

/** The request decides about a run or cancels it: its span becomes part of the run's trace, or links to it. */
export function joinRun(runId: string): void {
  const request = current.getStore();
  if (request === undefined) return;
  const { start } = runPlaces(runId, 0);
  join(request, start, start);
}

/** Returns whether the request is in the trace of `target`; otherwise links to it. */
function join(request: TracedRequest, target: SpanPlace, parent: SpanPlace | undefined): boolean {
  if (request.joined) {
    request.links.push(target);
    return false;
  }
  request.joined = true;
  request.place.traceId = target.traceId;
  request.parent = parent;
  return true;
}
