import { graphSchema } from '#shared/contract/workflows/graph.ts';
import type { Json } from '#shared/json.ts';
import type { Children } from '#shared/graph/guards.ts';

/** Sub-workflows as stored, by `callKey`. */
export type DrawnChildren = Readonly<Record<string, { id: string; version: number; graph: Json }>>;

/** The same sub-workflows as they run. Those that cannot run are missing. */
export const childrenOf = (drawn: DrawnChildren): Children =>
  Object.fromEntries(
    Object.entries(drawn).flatMap(([key, { id, version, graph }]) => {
      const parsed = graphSchema.safeParse(graph);
      return parsed.success ? [[key, { id, version, graph: parsed.data }]] : [];
    }),
  );
