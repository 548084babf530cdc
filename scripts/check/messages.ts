import ts from 'typescript';
import { lineOf, listed, parse, phraseOf, read } from './sources.ts';

/** Texts of the console that are not in `console/src/messages`, where they can be translated. */

const SOURCES = 'console/src';
/** A CSS value, a selector, a request header or a command. */
const CODE =
  /var\(--|\d(?:px|rem|em|fr|ms|s|%)(?!\w)|^translate|[{};\n]|=>|\\|\[role=|^\s*--?\w|^curl |^input, /;
/** Two words, or a word that begins like a sentence. `…` represents an expression. */
const WORDS =
  /\p{L}{2,}[,.:;?!]? \p{L}|^\p{Lu}\p{Ll}+[.:?!…]?$|^\p{Lu}\p{Ll}* \p{L}{2}|… \p{L}{3}|\p{L}{3} …/u;
/** Attributes whose values are for the browser. */
const FOR_BROWSER = new Set(['className', 'rel', 'd', 'id', 'key', 'style']);
/** Methods that search for their argument in a text. */
const SEARCHES = new Set(['endsWith', 'includes', 'indexOf', 'startsWith']);
/** Elements that show an API name or a key literally. */
const LITERAL_ELEMENTS = new Set(['code', 'Kbd']);
/** The names of keys, which are in English on keyboards. */
const KEYS = new Set('Alt Backspace Control Ctrl Delete Enter Escape Meta Shift Tab'.split(' '));
/** Strings that only look like texts. */
const NOT_TEXTS = new Set([
  // Font lists.
  'Inter, "Inter fallback", ui-sans-serif, system-ui, sans-serif',
  'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  // The names of caches and of a request header.
  'inbound events',
  'Authorization',
  // Values in examples of requests and states.
  'Approve?',
  'Austin',
  'Riverside Tower',
  "triage.category == 'billing' and amount > 100",
  // A message of the schema library, and what a comparison is compared with.
  "… must have required property '…'",
  'older only',
  'newer only',
]);

const isText = (text: string): boolean =>
  WORDS.test(text.trim()) && !CODE.test(text) && !NOT_TEXTS.has(text);

/**
 * Whether the literal is for the program instead of people: it is compared, imported, or the message of an exception.
 */
function isForCode(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent)) return true;
  if (ts.isLiteralTypeNode(parent) || ts.isCaseClause(parent)) return true;
  if (ts.isElementAccessExpression(parent)) return true;
  if (ts.isStringLiteral(node) && KEYS.has(node.text)) return !ts.isJsxAttribute(parent);
  if (ts.isPropertyAssignment(parent)) {
    return parent.name === node || FOR_BROWSER.has(parent.name.getText());
  }
  if (ts.isCallExpression(parent) && ts.isPropertyAccessExpression(parent.expression)) {
    if (SEARCHES.has(parent.expression.name.text)) return true;
  }
  if (ts.isNewExpression(parent)) return parent.expression.getText().endsWith('Error');
  if (isForBrowser(node)) return true;
  return (
    ts.isBinaryExpression(parent) &&
    [
      ts.SyntaxKind.EqualsEqualsEqualsToken,
      ts.SyntaxKind.ExclamationEqualsEqualsToken,
      ts.SyntaxKind.InKeyword,
    ].includes(parent.operatorToken.kind)
  );
}

const isLiteral = (node: ts.Node): boolean =>
  ts.isJsxElement(node) && LITERAL_ELEMENTS.has(node.openingElement.tagName.getText());

function isForBrowser(node: ts.Node): boolean {
  for (let each = node; !ts.isSourceFile(each); each = each.parent) {
    if (ts.isJsxAttribute(each)) return FOR_BROWSER.has(each.name.getText());
    if (ts.isJsxElement(each) || ts.isJsxSelfClosingElement(each)) return false;
  }
  return false;
}

/** The texts for people in a source file, as `path:line: "text"`. */
export function textsIn(path: string, source: string): string[] {
  const file = parse(path, source);
  const found: string[] = [];
  const add = (node: ts.Node, text: string): void => {
    found.push(`${path}:${lineOf(file, node.getStart(file))}: ${JSON.stringify(text.trim())}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) {
      if (/\p{L}/u.test(node.text) && !isLiteral(node.parent)) add(node, node.text);
    } else if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const text = phraseOf(node);
      if (isText(text) && !isForCode(node)) add(node, text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Every text of the console outside its messages. `below` is a folder or file of its sources. */
export const textsOutsideMessages = (below = ''): string[] =>
  listed(SOURCES, /\.tsx?$/)
    .filter((path) => path.startsWith(`${SOURCES}/${below}`))
    .filter((path) => !path.startsWith(`${SOURCES}/messages/`))
    .toSorted()
    .flatMap((path) => textsIn(path, read(path)));

if (import.meta.main) {
  const found = textsOutsideMessages(process.argv[2]);
  for (const line of found) console.log(line);
  process.exitCode = found.length === 0 ? 0 : 1;
}
