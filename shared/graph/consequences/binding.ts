import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { UnknownArgument } from './arguments.ts';
import type { ManyItems } from './many-items.ts';

/** What an approver saw of an effect. */
export interface ShownEffect {
  step_key: string;
  tool?: string;
  arguments: JsonObject;
  unknown: UnknownArgument[];
  /** Of a custom tool or a workflow. */
  target?: ShownTarget | undefined;
  items?: ManyItems | undefined;
}

/** What an effect reaches. Null digest: it does not exist. */
export interface ShownTarget {
  tool_digest: string | null;
  schema_digest: string;
}

/** The entry for a step, the most exact one first: entries can have `*` for iterations and items. */
export function entryFor<Entry extends Pick<ShownEffect, 'step_key'>>(
  entries: readonly Entry[],
  stepKey: string,
): Entry | undefined {
  const parts = stepKey.split(/[#.]/);
  const fits = entries.filter(({ step_key }) => {
    const shown = step_key.split(/[#.]/);
    return (
      shown.length === parts.length && shown.every((part, at) => part === '*' || part === parts[at])
    );
  });
  const open = ({ step_key }: Entry): number => step_key.split('*').length;
  return fits.toSorted((one, other) => open(one) - open(other))[0];
}

/** The keys of all entries that can be for a step: `*` only follows what is known of its iterations and items. */
export function keysFor(stepKey: string): string[] {
  const [id = '', iteration] = stepKey.split('#');
  if (iteration === undefined) return [id];
  const parts = iteration.split('.');
  return [...parts.keys(), parts.length].map(
    (known) => `${id}#${parts.map((part, at) => (at < known ? part : '*')).join('.')}`,
  );
}

/** The paths at which what is about to be sent differs from what was shown as known, like `body.amount`. */
export function differencesFrom(
  shown: ShownEffect,
  sent: {
    tool?: string | undefined;
    arguments: JsonObject;
    /** Undefined where it is not known. */
    target?: ShownTarget | undefined;
  },
): string[] {
  if (shown.tool !== undefined && sent.tool !== shown.tool) return ['tool'];
  if (!reachesTheSame(shown.target, sent.target)) return ['tool'];
  const hidden = new Set(shown.unknown.map(({ path }) => JSON.stringify(path)));
  const compare = (one: Json | undefined, other: Json | undefined, path: Path): string[] => {
    if (hidden.has(JSON.stringify(path))) return [];
    if (Array.isArray(one) && Array.isArray(other)) {
      const size = Math.max(one.length, other.length);
      return Array.from({ length: size }, (_, at) =>
        compare(one[at], other[at], [...path, at]),
      ).flat();
    }
    if (isObject(one) && isObject(other)) {
      const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
      return [...keys].flatMap((key) => compare(one[key], other[key], [...path, key]));
    }
    return Object.is(one, other) ? [] : [path.join('.')];
  };
  return compare(shown.arguments, sent.arguments, []);
}

const reachesTheSame = (shown: ShownTarget | undefined, sent: ShownTarget | undefined): boolean =>
  shown === undefined ||
  sent === undefined ||
  (shown.tool_digest === sent.tool_digest && shown.schema_digest === sent.schema_digest);

type Path = readonly (string | number)[];
