import { isObject } from '#shared/graph/json-value.ts';
import { type MappedField, parameterStyles } from '#shared/contract/tools/request-mapping.ts';
import type { JsonObject } from '#shared/json.ts';
import { objectIn, own, textIn } from './document.ts';
import { FORM, isJsonType, mediaTypeOf, MULTIPART, PLAIN } from './media-types.ts';
import { objectFields } from './object-fields.ts';
import type { ObjectPart, Part, References } from './references.ts';
import { UnsupportedError } from './unsupported.ts';

/** A field of a body that is an argument of its own. */
interface BodyField {
  name: string;
  required: boolean;
  schema: Part;
  encoding: Omit<MappedField, 'argument' | 'name'>;
}

/** The body of an operation: from its fields, or whole. */
export interface Body {
  contentType: string;
  required: boolean;
  description: string;
  fields?: BodyField[];
  whole: Part;
}

const MAX_FIELDS = 500;
const MAX_NAME = 500;

/** The body that a request body object asks for; undefined for none. Throws UnsupportedError. */
export function readBody(part: Part, references: References): Body | undefined {
  const { value, base } = references.object(part, 'its body');
  const content = objectIn(value, 'content') ?? {};
  const entries = Object.entries(content).filter(([, media]) => isObject(media));
  if (entries.length === 0) return undefined;
  const chosen = chooseMedia(entries.map(([type]) => type));
  const media = entries.find(([type]) => type === chosen.given)?.[1];
  const schema = { value: (isObject(media) ? own(media, 'schema') : undefined) ?? {}, base };
  if (own(value, 'required') !== true && holdsNothing(schema, references)) return undefined;
  const body = {
    contentType: chosen.type,
    required: own(value, 'required') === true,
    description: textIn(value, 'description')?.trim() ?? '',
    whole: schema,
  };
  if (chosen.type === PLAIN) return body;
  const isForm = chosen.type === FORM || chosen.type === MULTIPART;
  const encodings = isObject(media) ? (objectIn(media, 'encoding') ?? {}) : {};
  // The parts of a multipart body have no style.
  const styled = chosen.type === FORM;
  const fields = fieldsOf(schema, references, isForm ? { encodings, styled } : undefined);
  if (fields !== undefined) return { ...body, fields };
  if (isForm && holdsBinary(schema, references)) throw binary(chosen.type);
  return body;
}

/** Whether an object allows no properties: some documents have such a body for each operation without one. */
function holdsNothing(schema: Part, references: References): boolean {
  const { value } = resolved(schema, references);
  const hasNone = Object.keys(objectIn(value, 'properties') ?? {}).length === 0;
  const isAlone = !['allOf', 'anyOf', 'oneOf', 'patternProperties'].some((name) => name in value);
  return hasNone && isAlone && own(value, 'additionalProperties') === false;
}

const binary = (type: string): UnsupportedError =>
  new UnsupportedError(`its body is a file (${type})`);

/** The media type to send, and what the document calls it. Throws UnsupportedError. */
function chooseMedia(types: readonly string[]): { given: string; type: string } {
  const plain = types.map((given) => ({ given, type: mediaTypeOf(given) }));
  const first = (test: (type: string) => boolean) => plain.find(({ type }) => test(type));
  const json = first((type) => type === 'application/json') ?? first(isJsonType);
  if (json !== undefined) return json;
  const any = first((type) => type === '*/*' || type === 'application/*');
  if (any !== undefined) return { ...any, type: 'application/json' };
  for (const wanted of [FORM, MULTIPART, PLAIN]) {
    const found = first((type) => type === wanted);
    if (found !== undefined) return found;
  }
  const shown = types.slice(0, 3).join(' or ').slice(0, 200);
  throw new UnsupportedError(
    types.some((type) => /octet-stream|^(?:image|audio|video)\/|zip|pdf/i.test(type))
      ? `its body is a file (${shown})`
      : `its body is ${shown}, which cannot be sent`,
  );
}

/** The fields of a body that is an object with declared properties; undefined for any other. Throws UnsupportedError. */
function fieldsOf(
  schema: Part,
  references: References,
  form: { encodings: JsonObject; styled: boolean } | undefined,
): BodyField[] | undefined {
  const read = objectFields(schema, references);
  if (read === undefined) return undefined;
  const fields: BodyField[] = [];
  for (const [name, property] of read.properties) {
    const required = read.required.has(name);
    if (name === '' || name.length > MAX_NAME) return undefined;
    if (isReadOnly(property, references)) continue;
    const given = form === undefined ? undefined : objectIn(form.encodings, name);
    const encoding = given === undefined ? {} : encodingOf(given, form?.styled === true);
    if (form !== undefined && isBinary(property, references)) {
      if (required) throw new UnsupportedError(`its field '${name}' is a file`);
      continue;
    }
    fields.push({ name, required, schema: property, encoding });
  }
  if (fields.length === 0 && form !== undefined && read.properties.size > 0) {
    throw binary(MULTIPART);
  }
  return fields.length === 0 || fields.length > MAX_FIELDS ? undefined : fields;
}

function encodingOf(encoding: JsonObject, styled: boolean): BodyField['encoding'] {
  const style = parameterStyles.find((each) => each === textIn(encoding, 'style'));
  const explode = own(encoding, 'explode');
  const reserved = own(encoding, 'allowReserved') === true;
  const given = mediaTypeOf(textIn(encoding, 'contentType')?.split(',')[0] ?? '');
  if (styled && (style !== undefined || typeof explode === 'boolean' || reserved)) {
    const chosen = style ?? 'form';
    return {
      style: chosen,
      explode: typeof explode === 'boolean' ? explode : chosen === 'form',
      ...(reserved && { allow_reserved: true as const }),
    };
  }
  return /^[\w.+-]+\/[\w.+-]+$/.test(given) ? { content_type: given } : {};
}

const isReadOnly = (property: Part, references: References): boolean =>
  own(resolved(property, references).value, 'readOnly') === true;

/** Whether a field, or the items of a list, are bytes. */
function isBinary(property: Part, references: References): boolean {
  const { value, base } = resolved(property, references);
  if (textIn(value, 'type') !== 'array') return isBytes(value);
  return isBytes(resolved({ value: own(value, 'items') ?? {}, base }, references).value);
}

const isBytes = (schema: JsonObject): boolean =>
  textIn(schema, 'type') === 'file' ||
  ['binary', 'byte'].includes(textIn(schema, 'format') ?? '') ||
  /octet-stream|^(?:image|audio|video)\//.test(textIn(schema, 'contentMediaType') ?? '');

function holdsBinary(schema: Part, references: References): boolean {
  const { value, base } = resolved(schema, references);
  const properties = Object.values(objectIn(value, 'properties') ?? {});
  return properties.some((property) => isBinary({ value: property, base }, references));
}

const resolved = (part: Part, references: References): ObjectPart =>
  isObject(part.value) ? references.object(part, 'a field of it') : { value: {}, base: part.base };
