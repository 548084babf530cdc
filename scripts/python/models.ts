import { hasFields, type OpenApi, refName, type Schema } from './document.ts';
import { docstring, isIdentifier, python, typeOf } from './types.ts';

/**
 * The module of an API's records: a `TypedDict` for each schema with fields, and a union for each other one. Required and
 * optional fields are in two classes, because `NotRequired` is not in Python 3.10.
 */
export function modelsModule(document: OpenApi, about: string): string {
  const schemas = Object.entries(document.components.schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  const records = schemas.filter(([, schema]) => schema.properties !== undefined);
  const others = schemas.filter(([, schema]) => schema.properties === undefined);
  const body = [
    ...records.flatMap(([name, schema]) => ['', '', ...record(name, schema)]),
    '',
    '',
    ...inOrder(others).map(([name, schema]) => `${name}: TypeAlias = ${union(schema)}`),
  ];
  const head = [
    `"""${about}`,
    '',
    'Times are ISO 8601 in UTC, money is in dollars, durations are in milliseconds. Generated: see CONTRIBUTING.md.',
    '"""',
    '',
    'from __future__ import annotations',
    '',
    'from typing import Any, Literal, TypeAlias, TypedDict, Union',
    '',
    `__all__ = [${schemas.map(([name]) => `"${name}"`).join(', ')}]`,
  ];
  return `${[...head, ...body].join('\n')}\n`;
}

function record(name: string, schema: Schema): string[] {
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {});
  const needed = fields.filter(([field]) => required.has(field));
  const optional = fields.filter(([field]) => !required.has(field));
  const about = schema.description === undefined ? [] : docstring(schema.description, [], '    ');
  if (optional.length === 0) return classOf(name, needed, about, 'TypedDict');
  if (needed.length === 0) return classOf(name, optional, about, 'TypedDict, total=False');
  if (!optional.every(([field]) => isIdentifier(field))) {
    return [
      ...classOf(`_${name}`, needed, [], 'TypedDict'),
      '',
      '',
      ...classOf(`_${name}Optional`, optional, [], 'TypedDict, total=False'),
      '',
      '',
      ...classOf(name, [], about, `_${name}, _${name}Optional`),
    ];
  }
  return [
    ...classOf(`_${name}`, needed, [], 'TypedDict'),
    '',
    '',
    ...classOf(name, optional, about, `_${name}, total=False`),
  ];
}

/** A class, or a call where a field has a keyword as its name. */
function classOf(
  name: string,
  fields: readonly [string, Schema][],
  about: readonly string[],
  bases: string,
): string[] {
  if (!fields.every(([field]) => isIdentifier(field))) {
    const rows = fields.map(
      ([field, schema]) => `        ${python(field)}: ${python(typeOf(schema))},`,
    );
    const total = bases === 'TypedDict' ? [] : ['    total=False,'];
    return [`${name} = TypedDict(`, `    "${name}",`, '    {', ...rows, '    },', ...total, ')'];
  }
  const rows = fields.flatMap(([field, schema]) => [
    `    ${field}: ${typeOf(schema)}`,
    ...(schema.description === undefined ? [] : docstring(schema.description, [], '    ')),
  ]);
  const body = [...about, ...(about.length > 0 && rows.length > 0 ? [''] : []), ...rows];
  return [`class ${name}(${bases}):`, ...(body.length === 0 ? ['    pass'] : body)];
}

function union(schema: Schema): string {
  const members = schema.anyOf ?? schema.oneOf;
  if (members === undefined || hasFields(schema)) return typeOf(schema);
  return `Union[${members.map((member) => typeOf(member)).join(', ')}]`;
}

/** Unions after those that they contain. */
function inOrder(unions: readonly [string, Schema][]): [string, Schema][] {
  const done = new Set<string>();
  const order: [string, Schema][] = [];
  const add = (entry: [string, Schema]): void => {
    const [name, schema] = entry;
    if (done.has(name)) return;
    done.add(name);
    for (const { $ref } of schema.anyOf ?? schema.oneOf ?? []) {
      const inner = unions.find(([each]) => $ref !== undefined && each === refName($ref));
      if (inner !== undefined) add([...inner]);
    }
    order.push(entry);
  };
  for (const [name, schema] of unions) add([name, schema]);
  return order;
}
