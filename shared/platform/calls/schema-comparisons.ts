import { _, type Ajv, type FuncKeywordDefinition } from 'ajv';
import type { Json } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';

/**
 * The keywords that compare whole values, for Ajv. Its own implementations read members such as `constructor` and
 * `valueOf`, which a value can have, and reject an empty `enum`, which no value matches.
 */
const KEYWORDS: readonly FuncKeywordDefinition[] = [
  {
    keyword: 'const',
    compile: (schema: Json) => oneOf([schema]),
    error: {
      message: 'must be equal to constant',
      params: ({ schemaCode }) => _`{allowedValue: ${schemaCode}}`,
    },
  },
  {
    keyword: 'enum',
    schemaType: 'array',
    compile: oneOf,
    error: {
      message: 'must be equal to one of the allowed values',
      params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
    },
  },
  {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (isOn: boolean) => (items: Json[]) =>
      !isOn || new Set(items.map(canonicalJson)).size === items.length,
    error: { message: 'must NOT have duplicate items' },
  },
];

const isPlain = (value: Json): boolean => typeof value !== 'object' || value === null;

/** Returns a check whether a value is one of the choices. Only lists and objects take time. */
function oneOf(choices: readonly Json[]): (value: Json) => boolean {
  const plain = new Set(choices.filter(isPlain));
  const texts = new Set(choices.filter((choice) => !isPlain(choice)).map(canonicalJson));
  return (value) =>
    isPlain(value) ? plain.has(value) : texts.size > 0 && texts.has(canonicalJson(value));
}

/** Replaces these keywords of a validator, and returns it. */
export function comparing(ajv: Ajv): Ajv {
  for (const definition of KEYWORDS) {
    ajv.removeKeyword(definition.keyword as string);
    ajv.addKeyword(definition);
  }
  return ajv;
}
