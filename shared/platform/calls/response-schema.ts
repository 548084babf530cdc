import { z } from 'zod';
import type { Json, JsonObject } from '../../json.ts';

/**
 * Says why a model's response does not fit the node's schema, or undefined when it does. `pattern` and `format` are not
 * checked: they would run a tenant's regular expression on a backtracking engine. An unreadable schema (a remote
 * `$ref`, for example) checks nothing.
 */
export function responseProblem(schema: JsonObject, answer: Json): string | undefined {
  const checker = compile(schema);
  if (checker === undefined) return undefined;
  const result = checker.safeParse(answer);
  if (result.success) return undefined;
  return result.error.issues
    .slice(0, 5)
    .map((issue) =>
      issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`,
    )
    .join('; ');
}

function compile(schema: JsonObject): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(
      withoutPatterns(schema, false) as Parameters<typeof z.fromJSONSchema>[0],
    );
  } catch {
    return undefined;
  }
}

/** Drops the keywords, but not properties with the same names. */
function withoutPatterns(value: Json, isPropertyMap: boolean): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => withoutPatterns(item, false));
  const kept = Object.entries(value).filter(
    ([key]) =>
      isPropertyMap || !['pattern', 'format', 'patternProperties', 'propertyNames'].includes(key),
  );
  return Object.fromEntries(
    kept.map(([key, item]) => [
      key,
      withoutPatterns(item, !isPropertyMap && ['properties', '$defs', 'definitions'].includes(key)),
    ]),
  );
}
