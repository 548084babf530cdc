import { createHash } from 'node:crypto';
import { sql, type ValueExpression } from 'slonik';
import type { z } from 'zod';

const names = new Map<string, string>();

/** The same text has the same name on every connection. The texts come from code, so there are few. */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  names.set(text, name);
  return name;
}

/**
 * The tag of a prepared statement whose rows have the shape of `schema`. Postgres parses and plans it once per
 * connection, under a name that is the digest of its text. So values that change between calls must be parameters.
 */
export const statement =
  <Schema extends z.ZodType>(schema: Schema) =>
  (parts: TemplateStringsArray, ...values: ValueExpression[]) => {
    const query = sql.type(schema)(parts, ...values);
    return { ...query, name: nameOf(query.sql) };
  };
