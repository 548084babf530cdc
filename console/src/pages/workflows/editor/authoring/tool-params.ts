import type { JsonObject } from '#client/index.ts';
import { isRecord } from '#console/src/parts/data/record.ts';

/** One parameter of a tool, for its form. */
export interface ToolParam {
  name: string;
  description: string | undefined;
  required: boolean;
  /** `scalar`: a number, true or false, or a template for one. `texts`: an object of texts with any names. */
  kind: 'text' | 'scalar' | 'texts' | 'json' | 'expression';
  /** The possible values, if there are few. */
  values: readonly string[];
}

/**
 * The parameters in the tool's schema, required ones first, and those in `value` that the schema does not have. In each
 * of them, a text can be a template.
 */
export function paramsOf(tool: string, schema: JsonObject, value: JsonObject): ToolParam[] {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const needed: unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const names = [...new Set([...Object.keys(properties), ...Object.keys(value)])];
  return names
    .map((name): ToolParam => {
      const own = isRecord(properties[name]) ? properties[name] : {};
      const { description } = own;
      return {
        name,
        description: typeof description === 'string' ? description : undefined,
        required: needed.includes(name),
        kind:
          tool === 'json_transform' && name === 'expression'
            ? 'expression'
            : kindOf(own, value[name]),
        values: Array.isArray(own['enum'])
          ? own['enum'].filter((each) => typeof each === 'string')
          : [],
      };
    })
    .toSorted((one, other) => Number(other.required) - Number(one.required));
}

function kindOf(schema: JsonObject, value: unknown): ToolParam['kind'] {
  if (holdsTexts(schema) && isTexts(value)) return 'texts';
  if (typeof value === 'object') return 'json';
  const isText = value === undefined || typeof value === 'string';
  if (allows(schema, ['string'])) return isText ? 'text' : 'json';
  return allows(schema, ['number', 'integer', 'boolean']) ? 'scalar' : 'json';
}

/** Whether it is an object that can have a text under any name. */
function holdsTexts(schema: JsonObject): boolean {
  const { type, properties, additionalProperties: others } = schema;
  return (
    type === 'object' && properties === undefined && isRecord(others) && allows(others, ['string'])
  );
}

const isTexts = (value: unknown): boolean =>
  value === undefined ||
  (isRecord(value) && Object.values(value).every((each) => typeof each === 'string'));

function allows(schema: unknown, types: readonly string[]): boolean {
  if (!isRecord(schema)) return true;
  const { type, enum: values, anyOf, oneOf } = schema;
  const alternatives = [anyOf, oneOf].find(Array.isArray);
  if (alternatives !== undefined) return alternatives.some((each) => allows(each, types));
  if (Array.isArray(values)) return values.some((each) => types.includes(typeof each));
  return type === undefined || types.some((each) => [type].flat().includes(each));
}

/** The value of a text in a field for a number, true or false. Anything else is a template. */
export function scalarOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'number' || typeof value === 'boolean' ? value : text;
  } catch {
    return text;
  }
}
