import { AppError } from '#shared/errors.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { isForm } from '#shared/values/form.ts';

/** Far more than real forms have. Each field costs more than a value in JSON. */
const MAX_FIELDS = 10_000;
const MAX_PARTS = 1_000;

const MULTIPART =
  /^\s*multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;

type Field = [name: string, value: Json];

/**
 * The fields of a form, by its content type: texts, or a list if a name repeats. A file becomes `{filename,
 * content_type, size}`. Undefined for another content type. Throws AppError `invalid`.
 */
export function formFields(body: Buffer, type: string | undefined): JsonObject | undefined {
  if (isForm(type)) return byName(urlEncoded(body));
  const [, quoted, bare] = MULTIPART.exec(type ?? '') ?? [];
  const boundary = quoted ?? bare;
  return boundary === undefined ? undefined : byName(parts(body, boundary));
}

function byName(fields: readonly Field[]): JsonObject {
  const values = new Map<string, Json[]>();
  for (const [name, value] of fields) {
    const earlier = values.get(name);
    if (earlier === undefined) values.set(name, [value]);
    else earlier.push(value);
  }
  return Object.fromEntries(
    [...values].map(([name, all]) => [name, all.length === 1 ? all[0]! : all]),
  );
}

function urlEncoded(body: Buffer): Field[] {
  const text = body.toString('latin1');
  let fields = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) fields += 1;
  if (fields > MAX_FIELDS) throw invalid(`more than ${MAX_FIELDS} fields`);
  return [...new URLSearchParams(body.toString('utf8'))];
}

function parts(body: Buffer, boundary: string): Field[] {
  const fields: Field[] = [];
  const line = Buffer.from(`\r\n--${boundary}`);
  // No line comes before the first line.
  const bytes = Buffer.concat([Buffer.from('\r\n'), body]);
  let from = bytes.indexOf(line);
  while (from >= 0) {
    const start = from + line.length;
    if (bytes.subarray(start, start + 2).toString('latin1') === '--') return fields;
    const end = bytes.indexOf(line, start);
    if (end < 0) break;
    if (fields.length >= MAX_PARTS) throw invalid(`more than ${MAX_PARTS} parts`);
    fields.push(partOf(bytes.subarray(start, end)));
    from = end;
  }
  throw invalid('a form of several parts that does not end');
}

/** A part: the rest of the boundary's line, headers, an empty line and the content. */
function partOf(part: Buffer): Field {
  const middle = part.indexOf('\r\n\r\n');
  const headers = middle < 0 ? '' : part.subarray(0, middle).toString('utf8');
  const disposition = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? '';
  const name = parameterOf(disposition, 'name');
  if (name === undefined) throw invalid('a form with a part without a name');
  const content = part.subarray(middle + 4);
  const filename = parameterOf(disposition, 'filename');
  if (filename === undefined) return [name, content.toString('utf8')];
  const type = /^content-type:(.*)$/im.exec(headers)?.[1]?.trim() ?? null;
  return [name, { filename, content_type: type, size: content.length }];
}

/** Browsers escape quotes and line breaks as in URLs; other clients use a backslash. */
function parameterOf(disposition: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, 'i').exec(
    disposition,
  );
  if (found === null) return undefined;
  return (found[1] ?? found[2] ?? '')
    .replace(/\\(["\\])/g, '$1')
    .replace(/%(22|0D|0A)/gi, (_code, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
}

const invalid = (problem: string): AppError => new AppError('invalid', `Invalid body: ${problem}`);
