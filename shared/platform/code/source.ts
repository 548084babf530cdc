import { stripTypeScriptTypes } from 'node:module';
import { parse, type Program } from 'acorn';
import { messageOf } from '#shared/errors.ts';
import type { SourceProblem } from '#shared/graph/validate/code.ts';

export type CodeLanguage = 'javascript' | 'typescript';

/** Why code failed, and where in its source, from 1. */
export interface CodeProblem {
  message: string;
  line?: number;
  column?: number;
}

/** The code without types, each character where it was; or why it is not TypeScript. */
export function javascriptOf(source: string, language: CodeLanguage): string | CodeProblem {
  if (language === 'javascript') return source;
  try {
    return stripTypeScriptTypes(source);
  } catch (error) {
    return { message: messageOf(error), ...placeIn(error) };
  }
}

/** Node puts the line number, an excerpt and a mark below it in front of the stack. */
function placeIn(error: unknown): { line?: number; column?: number } {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const first = /^[^\n]*:(\d+)\n/.exec(stack);
  if (first === null) return {};
  const line = Number(first[1]);
  const mark = /^( *)\^+$/m.exec(stack);
  return mark === null ? { line } : { line, column: (mark[1] ?? '').length + 1 };
}

/** The syntax that QuickJS reads. */
const ECMA_VERSION = 2024;

/** Why the source cannot be code of a step; undefined when it can. Parses it, and never executes it. */
export function sourceProblem(source: string, language: CodeLanguage): SourceProblem | undefined {
  const script = javascriptOf(source, language);
  if (typeof script !== 'string') return placed(source, script);
  let program: Program;
  try {
    program = parse(script, { ecmaVersion: ECMA_VERSION, sourceType: 'module' });
  } catch (error) {
    if (error instanceof RangeError) return { message: 'It is nested too deeply' };
    const { pos, loc } = error as { pos?: number; loc?: { line: number; column: number } };
    if (pos === undefined || loc === undefined) throw error;
    const message = messageOf(error).replace(/ \(\d+:\d+\)$/, '');
    return { message, position: pos, line: loc.line, column: loc.column + 1 };
  }
  return importProblem(source, program) ?? exportProblem(source, program);
}

function importProblem(source: string, { body }: Program): SourceProblem | undefined {
  const found = body.find(
    (part) =>
      part.type === 'ImportDeclaration' ||
      part.type === 'ExportAllDeclaration' ||
      (part.type === 'ExportNamedDeclaration' && (part.source ?? null) !== null),
  );
  return found && at(source, found.start, 'Code cannot import modules');
}

/** Values that are certainly no functions. */
const NO_FUNCTIONS = [
  'Literal',
  'ObjectExpression',
  'ArrayExpression',
  'TemplateLiteral',
  'ClassDeclaration',
];

function exportProblem(source: string, { body }: Program): SourceProblem | undefined {
  const value = body.find((part) => part.type === 'ExportDefaultDeclaration');
  if (value !== undefined) {
    if (!NO_FUNCTIONS.includes(value.declaration.type)) return undefined;
    return at(source, value.declaration.start, '`export default` needs a function');
  }
  const renamed = body.some(
    (part) =>
      part.type === 'ExportNamedDeclaration' &&
      part.specifiers.some(({ exported }) => 'name' in exported && exported.name === 'default'),
  );
  if (renamed) return undefined;
  return {
    message: 'It needs `export default` with a function, such as `export default (state) => state`',
  };
}

/** The problem at an offset in UTF-16 units. */
function at(source: string, position: number, message: string): SourceProblem {
  const before = source.slice(0, position).split('\n');
  return { message, position, line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

function placed(source: string, { message, line, column }: CodeProblem): SourceProblem {
  if (line === undefined) return { message };
  const before = source.split('\n').slice(0, line - 1);
  const position = before.reduce((sum, text) => sum + text.length + 1, 0) + (column ?? 1) - 1;
  return { message, position: Math.min(position, source.length), line, column: column ?? 1 };
}
