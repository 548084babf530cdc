import type { Db } from '#shared/db/pool.ts';
import { readStandings } from '#shared/db/people/standings.ts';
import { type MemberStanding, needsMember } from '#shared/graph/gates/gate-settings.ts';

/** The members that the check of a graph needs; empty when no gate has a rule about them. */
export async function membersFor(
  db: Db,
  workspaceId: string,
  graph: unknown,
): Promise<{ members?: readonly MemberStanding[] }> {
  const { nodes } = (graph ?? {}) as { nodes?: unknown };
  const asks =
    Array.isArray(nodes) &&
    nodes.some((node: unknown) => isRecord(node) && [node, node['approval']].some(requiresMember));
  return asks ? { members: await readStandings(db, workspaceId) } : {};
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const requiresMember = (settings: unknown): boolean => isRecord(settings) && needsMember(settings);
