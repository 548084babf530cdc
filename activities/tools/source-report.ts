import { z } from 'zod';
import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import { sourceReportFields } from '#shared/contract/data/source.ts';
import { reportSource } from '#shared/db/data/sources.ts';
import { type JsonObject, toStorable } from '#shared/json.ts';
import type { NodeRunner } from '#activities/nodes/node.ts';
import { parseParams } from './params.ts';
import { asNodeError, type RecordDeps } from './records.ts';

const word = z.string().min(1).max(200).optional();
export const sourceReportParams = z
  .strictObject({ source_id: word, name: word, ...sourceReportFields })
  .refine(
    ({ source_id, name }) => (source_id === undefined) !== (name === undefined),
    "needs either 'source_id' or 'name'",
  );

/** `{source_id | name, ok, error?, checked_at?}` to `{source_id, health}`. */
export const createSourceReport =
  ({ db, onChange }: RecordDeps): NodeRunner<ToolNode> =>
  async ({ params, workspaceId, runId, idempotencyKey }) => {
    const { source_id, name, ...report } = parseParams(
      'source_report',
      sourceReportParams,
      toStorable(params) as JsonObject,
    );
    const source = source_id ?? name ?? '';
    const { id, health } = await db
      .transaction((tx) =>
        reportSource(tx, { ...report, workspaceId, runId, source, reportKey: idempotencyKey }),
      )
      .catch((error: unknown) => {
        throw asNodeError('source_report', error);
      });
    await onChange(workspaceId);
    const { status, consecutive_failures, last_success_at } = health;
    return {
      output: { source_id: id, health: { status, consecutive_failures, last_success_at } },
      costMicros: 0,
    };
  };
