import { isObject } from '#shared/graph/json-value.ts';
import type { JsonObject } from '#shared/json.ts';
import { objectIn, textIn } from './document.ts';
import type { ImportOptions, SkippedOperation } from './imported.ts';
import { nameHere } from './names.ts';
import type { ObjectPart, References } from './references.ts';
import { UnsupportedError } from './unsupported.ts';

/** An operation of a document that was chosen, before it is read. */
export interface ListedOperation {
  /** Its `operationId`, or `GET /pets`. */
  operation: string;
  /** In upper case. */
  method: string;
  path: string;
  /** Of the tool. */
  name: string;
  node: JsonObject;
  base: string;
  /** The path that it is below. */
  item: ObjectPart;
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];
const MAX_NAME = 64;
const MAX_ID = 500;
const MAX_SHOWN = 200;

/**
 * The operations that were chosen, in the order of the document. Names are given over all of them, so that a tool has the
 * same name however few are imported.
 */
export function listOperations(
  root: JsonObject,
  base: string,
  references: References,
  { operations: chosen, prefix }: ImportOptions,
): { operations: ListedOperation[]; skipped: SkippedOperation[] } {
  const { found, skipped } = findOperations(root, base, references);
  const ids = new Map<string, number>();
  for (const { id } of found) ids.set(id, (ids.get(id) ?? 0) + 1);
  const taken = new Set<string>();
  const all = found.map(({ id, ...rest }): ListedOperation => {
    const place = `${rest.method} ${rest.path}`;
    const operation = id !== '' && ids.get(id) === 1 ? id : place;
    const wanted = toolName(id, prefix) || toolName(place, prefix);
    return { ...rest, operation, name: freeName(wanted, taken) };
  });
  const isNamed = ({ name }: ListedOperation): boolean => name !== '';
  for (const { operation } of all.filter((each) => !isNamed(each))) {
    skipped.push({ operation, reason: 'its name has no letter from a to z' });
  }
  if (chosen === undefined) return { operations: all.filter(isNamed), skipped };
  return choose(all, chosen, ids, skipped);
}

function choose(
  all: readonly ListedOperation[],
  chosen: readonly string[],
  ids: ReadonlyMap<string, number>,
  skipped: readonly SkippedOperation[],
): { operations: ListedOperation[]; skipped: SkippedOperation[] } {
  const wanted = new Set(chosen.map(normal));
  const namesOf = ({ operation, method, path }: ListedOperation) => [
    operation,
    `${method} ${path}`,
  ];
  const operations = all.filter(
    (each) => each.name !== '' && namesOf(each).some((name) => wanted.has(name)),
  );
  const known = new Set([
    ...operations.flatMap(namesOf),
    ...skipped.map(({ operation }) => operation),
  ]);
  const unknown = [...wanted].filter((name) => !known.has(name));
  return {
    operations,
    skipped: [
      ...skipped.filter(({ operation }) => wanted.has(operation)),
      ...unknown.map((operation) => ({
        operation: shown(operation),
        reason:
          (ids.get(operation) ?? 0) > 1
            ? "several operations have this id: name it by its method and path, such as 'GET /pets'"
            : 'the document has no such operation',
      })),
    ],
  };
}

/** `get /pets` names the same operation as `GET /pets`. */
const normal = (name: string): string =>
  name.replace(/^([a-z]+) +(?=\/)/i, (_text, method: string) => `${method.toUpperCase()} `);

interface Found {
  id: string;
  method: string;
  path: string;
  node: JsonObject;
  base: string;
  item: ObjectPart;
}

function findOperations(
  root: JsonObject,
  base: string,
  references: References,
): { found: Found[]; skipped: SkippedOperation[] } {
  const found: Found[] = [];
  const skipped: SkippedOperation[] = [];
  for (const [path, value] of Object.entries(objectIn(root, 'paths') ?? {})) {
    if (!isObject(value) || path.startsWith('x-')) continue;
    try {
      const item = itemOf({ value, base }, references);
      for (const method of METHODS) {
        const node = objectIn(item.value, method);
        if (node === undefined) continue;
        const id = textIn(node, 'operationId')?.trim() ?? '';
        const used = id.length > MAX_ID ? '' : id;
        found.push({ id: used, method: method.toUpperCase(), path, node, base: item.base, item });
      }
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      skipped.push({ operation: shown(path), reason: error.message });
    }
  }
  return { found, skipped };
}

/** A path's operations. Beside a reference to them, others may stand. */
function itemOf(part: ObjectPart, references: References): ObjectPart {
  if (textIn(part.value, '$ref') === undefined) return part;
  const { value, base } = references.object(part, 'it');
  const { $ref: _there, ...beside } = part.value;
  return { value: { ...value, ...beside }, base };
}

/** `GET /pets/{id}` becomes `get_pets_id`. */
const toolName = (name: string, prefix: string | undefined): string =>
  nameHere(name.replace(/[^a-zA-Z0-9]+$/, ''), prefix);

function freeName(wanted: string, taken: Set<string>): string {
  if (wanted === '') return '';
  let free = wanted;
  for (let n = 2; taken.has(free); n += 1) {
    free = `${wanted.slice(0, MAX_NAME - 1 - String(n).length)}_${n}`;
  }
  taken.add(free);
  return free;
}

const shown = (text: string): string =>
  (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text).toWellFormed();
