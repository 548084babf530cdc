import { createHash } from 'node:crypto';
import type { SpanPlace } from './spans.ts';

/**
 * The spans of a run that other spans refer to. Their ids are computed from the run's id, so that the API and all
 * workers know them: after a crash, retry or reset, in a new execution, and without a change of workflow code.
 * `resumes`: how often the run has been resumed.
 */
export function runPlaces(runId: string, resumes: number): { start: SpanPlace; run: SpanPlace } {
  const traceId = sha256(runId).slice(0, 32);
  const ids = sha256(`${runId}/${resumes}`);
  return {
    start: { traceId, spanId: ids.slice(0, 16) },
    run: { traceId, spanId: ids.slice(16, 32) },
  };
}

/**
 * The span of an agent with tools over all its turns and calls. Workers know it before it is recorded. After each
 * resume, it is a new one.
 */
export function agentPlace(runId: string, resumes: number, stepKey: string): SpanPlace {
  const { traceId } = runPlaces(runId, resumes).run;
  return { traceId, spanId: sha256(`${runId}/${resumes}/${stepKey}`).slice(0, 16) };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
