import type { Json, JsonObject } from '#shared/json.ts';
import { parseTemplate, type Template } from '#shared/graph/expression/template.ts';

/**
 * The fields of a form template, such as `To={to}&Body={text}`. Their values are templates, and no value can add a
 * field. Undefined for a text without references, and if a name is not literal.
 */
export function formTemplate(text: string): JsonObject | undefined {
  const { parts } = parseTemplate(text);
  if (parts.every((part) => typeof part === 'string')) return undefined;
  const fields = fieldsIn(parts).filter(
    ({ name, isLiteral, value }) => name !== '' || !isLiteral || value !== undefined,
  );
  if (!fields.every(({ name, isLiteral }) => isLiteral && name !== '')) return undefined;
  const values = new Map<string, Json>();
  for (const { name, value = '' } of fields) {
    const earlier = values.get(name);
    values.set(name, earlier === undefined ? value : [earlier, value].flat());
  }
  return Object.fromEntries(values);
}

interface Field {
  name: string;
  /** Whether the name contains no reference. */
  isLiteral: boolean;
  /** Undefined before the `=`. */
  value: string | undefined;
}

const emptyField = (): Field => ({ name: '', isLiteral: true, value: undefined });

function fieldsIn(parts: Template['parts']): Field[] {
  let field = emptyField();
  const fields = [field];
  for (const part of parts) {
    if (typeof part !== 'string') {
      if (field.value === undefined) field.isLiteral = false;
      else field.value += `{${part.text}}`;
      continue;
    }
    for (const [at, piece] of part.split('&').entries()) {
      if (at > 0) {
        field = emptyField();
        fields.push(field);
      }
      addLiteral(field, piece);
    }
  }
  return fields;
}

function addLiteral(field: Field, piece: string): void {
  if (field.value !== undefined) {
    field.value += literal(piece);
    return;
  }
  const equals = piece.indexOf('=');
  field.name += decoded(equals < 0 ? piece : piece.slice(0, equals));
  if (equals >= 0) field.value = literal(piece.slice(equals + 1));
}

/** As a template. */
const literal = (text: string): string => decoded(text).replace(/[{}]/g, '$&$&');

/** Invalid escapes stay as written. */
function decoded(text: string): string {
  return text.replaceAll('+', ' ').replace(/(?:%[0-9a-f]{2})+/gi, (codes) => {
    try {
      return decodeURIComponent(codes);
    } catch (error) {
      if (error instanceof URIError) return codes;
      throw error;
    }
  });
}
