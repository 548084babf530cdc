import type { Json } from '#shared/json.ts';
import type { Schema } from './api-operations.ts';

/** A value that a schema forbids, and the field that has it; without a value, the field is missing. */
export interface WrongValue {
  path: string[];
  value: Json | undefined;
}

/** One value for each limit of a schema: of types, lengths, sizes, choices, required and unknown fields. */
export function wrongValuesOf(schema: Schema, path: string[] = []): WrongValue[] {
  const wrong = (...values: Json[]): WrongValue[] => values.map((value) => ({ path, value }));
  const { anyOf, minLength = 0, maxLength, minimum, maximum, minItems = 0, maxItems } = schema;
  const [only, none] = anyOf?.toSorted((one) => (one.type === 'null' ? 1 : -1)) ?? [];
  if (only !== undefined && none?.type === 'null' && anyOf?.length === 2) {
    return wrongValuesOf(only, path).filter(({ value }) => value !== null);
  }
  switch (schema.type) {
    case 'string':
      return [
        ...wrong(null, 7),
        ...(minLength > 0 ? wrong('', ...(path.at(-1) === 'name' ? [' '] : [])) : []),
        ...(maxLength === undefined ? [] : wrong('x'.repeat(maxLength + 1))),
        ...(schema.enum === undefined ? [] : wrong('nonsense')),
      ];
    case 'boolean':
      return wrong(null, 'yes');
    case 'number':
    case 'integer':
      return [
        ...wrong(null, '7'),
        ...(schema.type === 'integer' ? wrong(1.5) : []),
        ...(minimum === undefined ? [] : wrong(minimum - 1)),
        ...(maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? [] : wrong(maximum + 1)),
      ];
    case 'array':
      return [
        ...wrong(null, {}),
        ...(minItems > 0 ? wrong([]) : []),
        ...(maxItems === undefined ? [] : wrong(new Array(maxItems + 1).fill('x'))),
        ...wrongValuesOf(schema.items ?? {}, [...path, '0']),
      ];
    case 'object':
      return [
        ...wrong(null, []),
        ...(schema.required ?? []).map((name) => ({ path: [...path, name], value: undefined })),
        ...(schema.additionalProperties === false
          ? [{ path: [...path, 'surprise'], value: 1 }]
          : []),
        ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
          wrongValuesOf(field, [...path, name]),
        ),
      ];
    default:
      return [];
  }
}

/** A copy of a value with another one at that path, which is made as far as it is missing. */
export function replaceAt(
  value: Json | undefined,
  [key, ...rest]: readonly string[],
  by: Json | undefined,
): Json | undefined {
  if (key === undefined) return by;
  if (key === '0') {
    return [replaceAt(Array.isArray(value) ? value[0] : undefined, rest, by) ?? null];
  }
  const { [key]: old, ...others } =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  const changed = replaceAt(old, rest, by);
  return changed === undefined ? others : { ...others, [key]: changed };
}
