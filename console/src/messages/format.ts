import { countText } from '#console/src/parts/text/numbers.ts';
import { locale } from './en/locale.ts';

/** The names in the braces of a message: `'name' | 'count'` for `'{name} has {count} runs'`. */
export type Placeholder<Message extends string> =
  Message extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholder<Rest> : never;

/** The same messages in another language: what its module must export. */
export type Translated<Messages> = Messages extends string
  ? string
  : Messages extends (...values: infer Values) => string
    ? (...values: Values) => string
    : { readonly [Key in keyof Messages]: Translated<Messages[Key]> };

const rules = new Intl.PluralRules(locale);

/**
 * The form for this number in the language, with the number in place of `#`: `plural(2, { one: '# run', other: '# runs'
 * })` is `2 runs`. A missing form is replaced by `other`.
 */
export function plural(
  count: number,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string },
): string {
  return (forms[rules.select(count)] ?? forms.other).replaceAll('#', countText(count));
}
