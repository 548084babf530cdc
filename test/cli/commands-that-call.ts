import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Command } from 'commander';
import ts from 'typescript';

const folder = join(import.meta.dirname, '../../cli');

/** Whether a module imports one of this project: without, it has no client. */
const importsOurs = ({ statements }: ts.SourceFile): boolean =>
  statements.some(
    (each) =>
      ts.isImportDeclaration(each) &&
      ts.isStringLiteral(each.moduleSpecifier) &&
      /^[#.]/.test(each.moduleSpecifier.text),
  );

/** Whether a file takes a member with one of these names from something: `client.run(...)`, or `{ run } = client`. */
function takesOne(path: string, names: ReadonlySet<string>): boolean {
  const tree = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  let takes = false;
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) takes ||= names.has(node.name.text);
    else if (ts.isElementAccessExpression(node)) {
      const { argumentExpression: key } = node;
      takes ||= ts.isStringLiteralLike(key) && names.has(key.text);
    } else if (ts.isBindingElement(node) && ts.isIdentifier(node.propertyName ?? node.name)) {
      takes ||= names.has(((node.propertyName ?? node.name) as ts.Identifier).text);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return takes && importsOurs(tree);
}

/** The commands without commands below them, by their words: `node test`. */
export function leavesOf(command: Command, words: string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]];
  return command.commands.flatMap((each) => leavesOf(each, [...words, each.name()]));
}

/**
 * All commands of the modules in which one of these methods of the client is called: one of them calls it. Throws if one
 * is called elsewhere, where this cannot say by which commands.
 */
export async function commandsBesideCallsOf(
  methods: ReadonlySet<string>,
): Promise<Map<string, Command>> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => posix.normalize(path))
    .filter((path) => path.endsWith('.ts') && takesOne(join(folder, path), methods));
  const elsewhere = files.filter((path) => posix.dirname(path) !== 'commands');
  if (elsewhere.length > 0) throw new Error(`${elsewhere.join(', ')}: call it in a command`);
  const found = new Map<string, Command>();
  for (const file of files) {
    const module = (await import(join(folder, file))) as Record<string, unknown>;
    for (const [name, add] of Object.entries(module)) {
      if (!name.endsWith('Commands') || typeof add !== 'function') continue;
      const program = new Command();
      add(program);
      for (const [words, command] of leavesOf(program)) found.set(words, command);
    }
  }
  return found;
}
