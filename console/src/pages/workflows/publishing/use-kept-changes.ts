import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Graph, JsonObject } from '#client/index.ts';
import { isRecord } from '#console/src/parts/data/record.ts';
import { useIdentity } from '#console/src/queries/identity.ts';
import type { Content, Saving } from './use-saving.tsx';

const KEEP_AFTER_MS = 300;

/** Changes that were not saved when the editor closed, and the state that they are based on. */
export interface KeptChanges extends Content {
  keptAt: string;
  etag: string | undefined;
  version: number;
}

interface Stored extends KeptChanges {
  /** Who made them. They are not offered to anyone else. */
  by: string;
}

/**
 * Stores unsaved changes in this tab, so that they survive the end of a session, a reload and a crash. `offered` are
 * the changes that this member left, until they are taken or dropped.
 */
export function useKeptChanges(workflowId: string, content: Content, saving: Saving) {
  const { id, workspace_id: workspaceId } = useIdentity();
  const by = `${workspaceId}/${id ?? ''}`;
  const key = `workflows.unsaved.${workflowId}`;
  const [offered, setOffered] = useState(() => readKept(key, by, content));
  const stored = useMemo(
    (): Omit<Stored, 'keptAt'> => ({
      ...content,
      etag: saving.etag,
      version: saving.baseVersion,
      by,
    }),
    // `content` is built for each rendering.
    // oxlint-disable-next-line react/exhaustive-deps
    [content.graph, content.inputSchema, saving.etag, saving.baseVersion, by],
  );
  const latest = useRef(stored);
  const write = useDebouncedCallback(() => keep(key, latest.current), {
    delay: KEEP_AFTER_MS,
    flushOnUnmount: true,
  });
  const { unsaved } = saving;
  const wrote = useRef(false);
  useEffect(() => {
    latest.current = stored;
    if (unsaved) {
      wrote.current = true;
      write();
      return;
    }
    // Offered changes stay until the member decides.
    if (wrote.current) sessionStorage.removeItem(key);
    wrote.current = false;
    write.cancel();
  }, [stored, unsaved, write, key]);
  const drop = (): void => {
    setOffered(undefined);
    if (!unsaved) sessionStorage.removeItem(key);
  };
  return { offered, drop };
}

function keep(key: string, stored: Omit<Stored, 'keptAt'>): void {
  try {
    sessionStorage.setItem(key, JSON.stringify({ ...stored, keptAt: new Date().toISOString() }));
  } catch {
    // The storage is full or forbidden, but the page still asks before it is left.
  }
}

function readKept(key: string, by: string, content: Content): KeptChanges | undefined {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    if (!isStored(kept) || kept.by !== by) return undefined;
    const { graph, inputSchema } = kept;
    const same =
      JSON.stringify([graph, inputSchema]) === JSON.stringify([content.graph, content.inputSchema]);
    return same ? undefined : kept;
  } catch {
    return undefined;
  }
}

const isGraph = (value: unknown): value is Graph =>
  isRecord(value) && Array.isArray(value['nodes']) && Array.isArray(value['edges']);

const isSchema = (value: unknown): value is JsonObject | null => value === null || isRecord(value);

const isStored = (value: unknown): value is Stored =>
  isRecord(value) &&
  isGraph(value['graph']) &&
  isSchema(value['inputSchema']) &&
  typeof value['keptAt'] === 'string' &&
  typeof value['version'] === 'number' &&
  ['string', 'undefined'].includes(typeof value['etag']);
