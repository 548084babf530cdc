import type { Argument, Method } from './methods.ts';
import { docstring, python, wrapped } from './types.ts';

/** How the methods of a class are written. */
interface Flavor {
  asynchronous: boolean;
}

/** Arguments of many methods, explained once. */
const options =
  '`timeout` is in seconds, for the whole call including its retries. Requests with the same `idempotency_key` act once; ' +
  'by default, each call has a new one. `if_match` is the `etag` of a record as you read it: if the record has changed ' +
  'since, the call fails with status 412.';

/** The module of a class with a method for each operation of an API. */
export function classModule(
  methods: readonly Method[],
  {
    name,
    about,
    models,
    asynchronous,
  }: { name: string; about: string; models: string; asynchronous: boolean },
): string {
  const flavor = { asynchronous };
  const base = asynchronous ? 'AsyncSender' : 'Sender';
  const body = methods.flatMap((method) => [
    '',
    ...operationMethod(method, flavor),
    ...(method.rows === undefined ? [] : ['', ...rowsMethod(method, method.rows, flavor)]),
  ]);
  const text = body.join('\n');
  const iterator = asynchronous ? 'AsyncIterator' : 'Iterator';
  const abstract = [iterator, 'Sequence'].filter((each) => text.includes(`${each}[`));
  const typing = ['TYPE_CHECKING', 'Any', 'Literal'].filter(
    (each) => each === 'TYPE_CHECKING' || new RegExp(`\\b${each}\\b`).test(text),
  );
  return [
    `"""${about} Generated: see CONTRIBUTING.md."""`,
    '',
    'from __future__ import annotations',
    '',
    `from typing import ${typing.join(', ')}`,
    '',
    `from ._call import ${['NOT_GIVEN', 'Call', 'NotGiven'].filter((each) => text.includes(each)).join(', ')}`,
    `from ._sender import ${base}`,
    '',
    'if TYPE_CHECKING:',
    ...(abstract.length > 0 ? [`    from collections.abc import ${abstract.join(', ')}`] : []),
    ...(text.includes('| datetime') ? ['    from datetime import datetime'] : []),
    '',
    `    from . import ${models} as m`,
    '',
    '',
    `class ${name}(${base}):`,
    ...docstring(about, [wrapped(options, 92)], '    '),
    text,
    '',
  ].join('\n');
}

function operationMethod(method: Method, { asynchronous }: Flavor): string[] {
  const { name, answer, summary, description, verb, path } = method;
  const given = [...positionalOf(method), ...namedOf(method), ...optionsOf(method)];
  const call = `self.${method.list === 'all' ? '_all' : '_send'}`;
  const sent = callLines(method, '            ');
  const waited = asynchronous ? 'await ' : '';
  const result =
    answer === 'None'
      ? [`        ${waited}${call}(`, ...sent, '        )']
      : [
          `        answer: ${answer} = ${waited}${call}(`,
          ...sent,
          '        )',
          '        return answer',
        ];
  return [
    `    ${asynchronous ? 'async ' : ''}def ${name}(`,
    ...signature(method),
    `    ) -> ${answer}:`,
    ...docstring(summary, about(description, given, `${verb} ${path}`), '        '),
    ...result,
  ];
}

/** An iterator over the rows of all pages. It asks for each page when it is needed. */
function rowsMethod(
  method: Method,
  rows: NonNullable<Method['rows']>,
  { asynchronous }: Flavor,
): string[] {
  const paged = rows.by === 'offset' ? ['limit', 'offset'] : ['cursor'];
  const reads: Method = {
    ...method,
    query: method.query.filter(({ sent }) => !paged.includes(sent)),
  };
  return [
    `    def ${rows.name}(`,
    ...signature(reads),
    `    ) -> ${asynchronous ? 'AsyncIterator' : 'Iterator'}[${rows.type}]:`,
    ...docstring(
      method.summary,
      [[`Iterates over all pages of \`\`${method.name}\`\`, one page at a time.`]],
      '        ',
    ),
    `        return self._rows(`,
    ...callLines(reads, '            '),
    `            ${python(rows.key)},`,
    `            ${python(rows.by)},`,
    '        )',
  ];
}

const positionalOf = ({ ids, positional, whole }: Method): Argument[] => [
  ...ids,
  ...(whole === undefined ? [] : [whole]),
  ...positional,
];

/** What is given by name: what is needed first. */
function namedOf({ fields, positional, query }: Method): Argument[] {
  const named = [...fields.filter((field) => !positional.includes(field)), ...query];
  const needed = named.filter(({ standard }) => standard === undefined);
  return [...needed, ...named.filter((argument) => !needed.includes(argument))];
}

function optionsOf({ once, conditional }: Method): Argument[] {
  const option = (name: string, type: string): Argument => ({
    name,
    sent: name,
    type: `${type} | None`,
    standard: 'None',
  });
  return [
    ...(once ? [option('idempotency_key', 'str')] : []),
    ...(conditional ? [option('if_match', 'str')] : []),
    option('timeout', 'float'),
  ];
}

function signature(method: Method): string[] {
  const written = ({ name, type, standard }: Argument): string =>
    `        ${name}: ${type}${standard === undefined ? '' : ` = ${standard}`},`;
  const names = [...positionalOf(method), ...namedOf(method), ...optionsOf(method)].map(
    ({ name }) => name,
  );
  if (new Set(names).size < names.length) {
    throw new Error(`${method.name} has an argument twice: ${names.join(', ')}`);
  }
  return [
    '        self,',
    ...positionalOf(method).map(written),
    '        *,',
    ...[...namedOf(method), ...optionsOf(method)].map(written),
  ];
}

function about(
  description: string | undefined,
  given: readonly Argument[],
  route: string,
): string[][] {
  const explained = given.filter((argument) => argument.about !== undefined);
  const rows = explained.flatMap(({ name, about: text = '' }) =>
    wrapped(`${name}: ${text}`, 88, '        ', '    '),
  );
  return [
    ...(description === undefined ? [] : [wrapped(description, 92)]),
    ...(rows.length === 0 ? [] : [['Args:', ...rows]]),
    [`\`\`${route}\`\``],
  ];
}

function callLines(method: Method, indent: string): string[] {
  const { verb, path, ids, fields, whole, query, fixed, once, conditional } = method;
  const inner = `${indent}    `;
  const dictionary = (entries: string[]): string => `{${entries.join(', ')}}`;
  const entry = ({ name, sent }: Argument): string => `${python(sent)}: ${name}`;
  const fixedEntries = Object.entries(fixed).map(
    ([name, value]) => `${python(name)}: ${python(value)}`,
  );
  const inBody = fields.length > 0 ? fixedEntries : [];
  const asked = [...query.map(entry), ...(fields.length > 0 ? [] : fixedEntries)];
  return [
    `${indent}Call(`,
    `${inner}${python(verb)},`,
    `${inner}${python(path)},`,
    ...(ids.length === 0 ? [] : [`${inner}(${ids.map(({ name }) => `${name},`).join(' ')}),`]),
    ...(asked.length === 0 ? [] : [`${inner}query=${dictionary(asked)},`]),
    ...(fields.length === 0
      ? []
      : [`${inner}fields=${dictionary([...inBody, ...fields.map(entry)])},`]),
    ...(whole === undefined ? [] : [`${inner}body=${whole.name},`]),
    ...(once ? [`${inner}once=True,`, `${inner}idempotency_key=idempotency_key,`] : []),
    ...(conditional ? [`${inner}if_match=if_match,`] : []),
    `${inner}timeout=timeout,`,
    `${indent}),`,
  ];
}
