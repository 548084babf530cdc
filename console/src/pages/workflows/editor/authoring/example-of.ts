import { isRecord } from '#console/src/parts/data/record.ts';

/** Enough for any path that someone writes by hand. */
const MAX_DEPTH = 6;

/** A value that a JSON Schema describes, so that its parts can be completed. Cut where the schema goes deeper. */
export function exampleOf(schema: unknown, depth = 0): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return null;
  if (schema['const'] !== undefined) return schema['const'];
  const { enum: values, allOf, anyOf, oneOf, properties, items } = schema;
  if (Array.isArray(values)) return values[0] as unknown;
  if (isRecord(properties)) {
    return Object.fromEntries(
      Object.entries(properties).map(([name, part]) => [name, exampleOf(part, depth + 1)]),
    );
  }
  if (items !== undefined) return [exampleOf(items, depth + 1)];
  if (Array.isArray(allOf)) {
    const parts = allOf.map((part) => exampleOf(part, depth + 1));
    return parts.every(isRecord) ? Object.assign({}, ...parts) : parts[0];
  }
  const choices: unknown = anyOf ?? oneOf;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return first === undefined ? exampleOfType(schema['type']) : exampleOf(first, depth + 1);
}

function exampleOfType(type: unknown): unknown {
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return '';
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return null;
  }
}
