import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import type { z } from 'zod';
import {
  changedMeanwhile,
  type IfMatch,
  ifMatchHeaders,
  matches,
  preconditionFailed,
} from '#shared/contract/if-match.ts';
import { etagOf } from '#shared/crypto/etags.ts';
import type { Db, Pool, Tx } from '#shared/db/pool.ts';
import { type LockedNoun, lockForComparison, withFirstCheck } from '#shared/db/preconditions.ts';
import { AppError } from '#shared/errors.ts';
import { refusedWriteOf } from './responses.ts';

/**
 * Records that people edit have an entity tag, and a change can require it with `If-Match`. A route declares its
 * record, and the rest happens here. Reads and changes send the tag of their response. A change compares the tag under
 * the lock of the record, at the beginning of its own transaction.
 */

/** How a record is read and locked. */
export interface EditedRecord {
  noun: LockedNoun;
  /** What a caller sees of the record. */
  schema: z.ZodType;
  /** The record as its GET returns it. Throws AppError `not_found`. */
  read: (db: Db, request: FastifyRequest) => Promise<object>;
  /** Whether a PUT creates it. */
  isCreated?: true;
}

/** The `{id}` of a path, which the route has validated. */
export const idOf = (params: unknown): string => (params as { id: string }).id;

export const nameOf = (params: unknown): string => (params as { name: string }).name;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The record that the route reads or changes. */
    record?: EditedRecord;
  }
  interface FastifyRequest {
    /**
     * The database for changes to the route's record. Before the first change, it compares the tag if `If-Match`
     * requires that.
     */
    writes: Pool;
  }
}

const changes = new Set(['PUT', 'PATCH', 'POST', 'DELETE']);

const isChange = ({ method }: Pick<RouteOptions, 'method'>): boolean =>
  [method].flat().some((each) => changes.has(each));

/** The tags that the caller of a change accepts. */
export const ifMatchOf = ({ headers }: FastifyRequest): IfMatch | undefined =>
  (headers as { 'if-match'?: IfMatch })['if-match'];

/** Must be registered before the routes. */
export function compareRecords(app: FastifyInstance, db: Pool): void {
  app.decorateRequest('writes');
  app.addHook('onRoute', (route) => {
    const record = route.config?.record;
    if (record === undefined || !isChange(route)) return;
    const { schema = {} } = route;
    const response = schema.response as Record<number, z.ZodType>;
    route.schema = {
      ...schema,
      headers: ifMatchHeaders,
      response: { ...response, 412: refusedWriteOf(record.schema) },
    };
  });
  app.addHook('preHandler', async (request) => {
    const { record } = request.routeOptions.config;
    const wanted = ifMatchOf(request);
    if (record === undefined) {
      request.writes = db;
      return;
    }
    const { workspaceId } = request.actor;
    const { id, name } = request.params as { id?: string; name?: string };
    request.writes = comparingWrites(db, wanted, {
      noun: record.noun,
      workspaceId,
      id: id ?? name ?? workspaceId,
      read: (tx) => readOrGone(tx, request, record),
    });
  });
  app.addHook('preSerialization', async (request, reply, payload) => {
    const { record } = request.routeOptions.config;
    const { statusCode } = reply;
    const shown = statusCode === 412 ? (payload as { current?: object | null }).current : payload;
    if (record === undefined || (statusCode >= 300 && statusCode !== 412)) return payload;
    if (typeof shown === 'object' && shown !== null) {
      reply.header('etag', `"${tagOf(shown)}"`);
    }
    return payload;
  });
}

/** The tag in the record. Policies and prices have none, since people send them back as a whole. */
function tagOf(current: object): string {
  const { etag } = current as { etag?: unknown };
  return typeof etag === 'string' ? etag : etagOf(current);
}

/** The record that is being changed. `read` throws the AppError for one that does not exist. */
interface ComparedRecord {
  noun: LockedNoun;
  workspaceId: string;
  id: string;
  read: (tx: Tx) => Promise<object>;
}

/**
 * The database for changes to a record. Its first transaction compares the tag under the lock of the record, and throws
 * AppError `precondition_failed` if it differs. Without a wanted tag, it is the database itself.
 */
export function comparingWrites(
  db: Pool,
  wanted: IfMatch | undefined,
  { noun, workspaceId, id, read }: ComparedRecord,
): Pool {
  if (wanted === undefined) return db;
  return withFirstCheck(db, async (tx) => {
    await lockForComparison(tx, noun, { workspaceId, id });
    const current = await read(tx);
    if (!matches(wanted, tagOf(current))) throw changedMeanwhile(current);
  });
}

async function readOrGone(tx: Tx, request: FastifyRequest, record: EditedRecord): Promise<object> {
  try {
    return await record.read(tx, request);
  } catch (error) {
    const isNew = error instanceof AppError && error.code === 'not_found' && record.isCreated;
    if (isNew !== true || request.method !== 'PUT') throw error;
    throw preconditionFailed(
      null,
      'There is no such record to replace: leave out If-Match to create it',
    );
  }
}
