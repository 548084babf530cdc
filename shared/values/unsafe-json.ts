import { AppError } from '#shared/errors.ts';
import { MAX_LEVELS, tooDeep } from '#shared/outside-json.ts';

interface Place {
  value: unknown;
  depth: number;
  key: string | number;
  parent: Place | undefined;
}

/** Throws AppError `invalid`, with the part of the request and the path in it. */
// An explicit stack instead of recursion: the caller controls the depth.
export function refuseUnsafe(part: string, root: unknown): void {
  if (root === undefined || root === null) return;
  const open: Place[] = [{ value: root, depth: 0, key: part, parent: undefined }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value, depth } = place;
    if (typeof value === 'string') {
      const problem = problemOf(value);
      if (problem !== undefined) refuse(part, place, problem);
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) refuse(part, place, 'is a number too large to hold');
    } else if (isObject(value)) {
      if (depth >= MAX_LEVELS) {
        throw new AppError('invalid', `Invalid ${part}: ${tooDeep(MAX_LEVELS)}`);
      }
      push(open, place, value, part);
    }
  }
}

function push(open: Place[], parent: Place, value: object, part: string): void {
  const depth = parent.depth + 1;
  if (Array.isArray(value)) {
    for (let key = 0; key < value.length; key += 1) {
      open.push({ value: value[key], depth, key, parent });
    }
    return;
  }
  for (const key of Object.keys(value)) {
    const problem = problemOf(key);
    if (problem !== undefined) refuse(part, parent, `has a key that ${problem}`);
    if (key === '__proto__') refuse(part, parent, "must not have the key '__proto__'");
    const member = (value as Record<string, unknown>)[key];
    if (key === 'constructor' && isObject(member) && Object.hasOwn(member, 'prototype')) {
      refuse(part, parent, "must not have the key 'constructor.prototype'");
    }
    open.push({ value: member, depth, key, parent });
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function problemOf(text: string): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character';
  if (!text.isWellFormed()) return 'contains a lone surrogate';
  return undefined;
}

function refuse(part: string, place: Place, problem: string): never {
  const keys: string[] = [];
  for (let at: Place | undefined = place; at.parent !== undefined; at = at.parent) {
    keys.unshift(String(at.key));
  }
  const where = keys.length === 0 ? '' : ` ${keys.join('.').slice(0, 200).toWellFormed()}`;
  throw new AppError('invalid', `Invalid ${part}:${where} ${problem}`);
}
