import { z } from 'zod';
import { AppError } from '#shared/errors.ts';

/** The entity tag of a record that people edit; the header `ETag` has it in double quotes. */
export const etag = z.string().meta({
  description:
    'Changes with each edit. The header `ETag` has it in double quotes; send that as `If-Match` to change only this state',
  examples: ['5Yk3bVw2m0d1Qe8rTz7xUA'],
});

/** The values that `If-Match` accepts: any existing record, or those with one of these tags. */
export type IfMatch = '*' | readonly string[];

/**
 * The strong tags of the header, without quotes; undefined when the header is malformed. RFC 9110 compares strongly
 * here, so a weak tag matches nothing.
 */
function strongTags(text: string): string[] | undefined {
  const element = /[ \t]*(?:(W\/)?"([\u0021\u0023-\u007e\u0080-\u00ff]*)"[ \t]*)?(,|$)/y;
  const strong: string[] = [];
  let tags = 0;
  for (;;) {
    const found = element.exec(text);
    if (found === null) return undefined;
    const [, weak, tag, end] = found;
    if (tag !== undefined) tags += 1;
    if (tag !== undefined && weak === undefined) strong.push(tag);
    if (end === '') return tags === 0 ? undefined : strong;
  }
}

const ifMatch = z
  .string()
  .transform((text, context): IfMatch => {
    if (text.trim() === '*') return '*';
    const tags = strongTags(text);
    if (tags !== undefined) return tags;
    context.addIssue({
      code: 'custom',
      message: 'must be * or entity tags in double quotes, as the header ETag has them',
    });
    return z.NEVER;
  })
  .meta({
    type: 'string',
    description:
      'The `ETag` of the record as you read it. Where it has changed since, the answer is 412',
    examples: ['"5Yk3bVw2m0d1Qe8rTz7xUA"'],
  });

/** The headers of every write of a record that people edit. */
export const ifMatchHeaders = z.object({ 'if-match': ifMatch.optional() });

/**
 * The error for a record that differs from what the caller expects. `current` is its present state; null when it was
 * deleted.
 */
export const preconditionFailed = (current: object | null, detail: string): AppError =>
  new AppError('precondition_failed', detail, { current });

/** Whether the caller accepts the tag. */
export const matches = (wanted: IfMatch, tag: string): boolean =>
  wanted === '*' || wanted.includes(tag);

/** The error for a record that someone else has changed. */
export const changedMeanwhile = (current: object): AppError =>
  preconditionFailed(
    current,
    'This has changed since you read it: compare with its current state, and repeat your change with the new ETag',
  );
