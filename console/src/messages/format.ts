import { countText } from '#console/src/parts/text/numbers.ts';
import { locale } from './en/locale.ts';

/** The names in braces of a message: `'name' | 'count'` of `'{name} has {count} runs'`. */
export type Placeholder<Message extends string> =
  Message extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholder<Rest> : never;

/** The same texts in another language: what its module must export. */
export type Translated<Messages> = Messages extends string
  ? string
  : Messages extends (...values: infer Values) => string
    ? (...values: Values) => string
    : { readonly [Key in keyof Messages]: Translated<Messages[Key]> };

const rules = new Intl.PluralRules(locale);

/**
 * The form that the language has for this number, with the number in place of `#`: `plural(2, { one: '# run', other: '#
 * runs' })` is `2 runs`. A missing form is `other`.
 */
export function plural(
  count: number,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string },
): string {
  return (forms[rules.select(count)] ?? forms.other).replaceAll('#', countText(count));
}
