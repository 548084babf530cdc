import { fileURLToPath } from 'node:url';
import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import proto from '@temporalio/proto';
import type { Pool } from '#shared/db/pool.ts';
import { searchAttributes, taskQueues } from '#shared/execution.ts';
import { messageOf } from '#shared/errors.ts';
import type { Config } from './config.ts';
import type { Logger } from './logger.ts';
import { moduleUrl } from './module-url.ts';
import { createPayloadStore } from './payload-store.ts';

/** The timeout of one call to Temporal. After it, the caller continues without Temporal. */
const CALL_TIMEOUT_MS = 3_000;

export interface TemporalLink {
  client: Client;
  namespace: string;
  queues: ReturnType<typeof taskQueues>;
  /**
   * Makes calls to the server with a deadline, so that they fail quickly when it is unreachable. `timeoutMs`: for an operator,
   * who prefers to wait.
   */
  withTimeout<T>(call: () => Promise<T>, timeoutMs?: number): Promise<T>;
  /** Whether the server responds, and whether a worker polls this installation's task queues. */
  health(): Promise<{ temporal: boolean; worker: boolean }>;
  /** Waits for calls in progress, until their timeout at most. */
  close(): Promise<void>;
}

/** The server's address, from the `TEMPORAL_*` variables and the profile file, as the Temporal CLI reads them. */
export function connectOptions(config: Config) {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  return {
    namespace: namespace ?? 'default',
    connection: {
      ...connectionOptions,
      address:
        config.temporal.address ?? connectionOptions.address ?? `127.0.0.1:${config.temporal.port}`,
    },
  };
}

export function dataConverter(db: Pool): DataConverter {
  return {
    payloadConverterPath: fileURLToPath(
      moduleUrl('../../workflows/native-payloads.ts', import.meta.url),
    ),
    payloadCodecs: [createPayloadStore(db)],
  };
}

/** A lazy connection: the process starts without Temporal, and calls fail until the server is available. */
export function connectTemporal(config: Config, db: Pool): TemporalLink {
  const { connection: options, namespace } = connectOptions(config);
  const connection = Connection.lazy({ ...options, connectTimeout: CALL_TIMEOUT_MS });
  const client = new Client({ connection, namespace, dataConverter: dataConverter(db) });
  const queues = taskQueues(config.temporal.taskQueuePrefix);
  const pending = new Set<Promise<unknown>>();
  const withTimeout = <T>(call: () => Promise<T>, timeoutMs = CALL_TIMEOUT_MS): Promise<T> => {
    const answer = connection.withDeadline(Date.now() + timeoutMs, call);
    const over: Promise<void> = answer.then(forget, forget);
    function forget(): void {
      pending.delete(over);
    }
    pending.add(over);
    return answer;
  };
  return {
    client,
    namespace,
    queues,
    withTimeout,
    health: async () => {
      try {
        const polled = await withTimeout(async () =>
          Promise.all(
            [
              [
                queues.control,
                proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
              ] as const,
              [
                queues.control,
                proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
              ] as const,
            ].map(async ([name, taskQueueType]) => {
              const { pollers } = await client.workflowService.describeTaskQueue({
                namespace,
                taskQueue: { name },
                taskQueueType,
              });
              return pollers.length > 0;
            }),
          ),
        );
        return { temporal: true, worker: polled.every(Boolean) };
      } catch {
        return { temporal: false, worker: false };
      }
    },
    close: async () => {
      // When a call is retried on a closed connection, the error is thrown where no code can catch it.
      await Promise.all(pending);
      await connection.close();
    },
  };
}

const { IndexedValueType } = proto.temporal.api.enums.v1;
const attributeTypes = {
  [searchAttributes.workspace]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  [searchAttributes.workflow]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  [searchAttributes.trigger]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  [searchAttributes.status]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  [searchAttributes.version]: IndexedValueType.INDEXED_VALUE_TYPE_INT,
  [searchAttributes.cost]: IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE,
};

/**
 * Registers the missing search attributes and waits until a start can use them. Idempotent, also with concurrent
 * processes.
 */
export async function registerSearchAttributes(link: TemporalLink, log: Logger): Promise<void> {
  const { operatorService } = link.client.connection as Connection;
  const missing = async () => {
    const { customAttributes } = await operatorService.listSearchAttributes({
      namespace: link.namespace,
    });
    return Object.entries(attributeTypes).filter(([name]) => !(name in customAttributes));
  };
  const wanted = await missing();
  if (wanted.length === 0) return;
  try {
    await operatorService.addSearchAttributes({
      namespace: link.namespace,
      searchAttributes: Object.fromEntries(wanted),
    });
  } catch (error) {
    if (!isGrpcServiceError(error) || (await missing()).length > 0) throw error;
    log.info({ reason: messageOf(error) }, 'search attributes were registered by another process');
  }
  for (let tries = 0; (await missing()).length > 0; tries += 1) {
    if (tries > 100) throw new Error('Search attributes did not become available');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
