import { styleText } from 'node:util';

const WIDTH = 100;
const INDENT = '     ';

/** `styleText` omits colors if the output is not a terminal. */
const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
  styleText(style, text, { stream: process.stdout });

export function heading(text: string): void {
  console.log(`\n${paint('bold', text)}`);
}

export function request(method: string, path: string, headers: Record<string, string>): void {
  console.log(`\n   ${paint('cyan', `${method} ${path}`)}`);
  for (const [name, value] of Object.entries(headers)) console.log(`${INDENT}${name}: ${value}`);
}

export function answer(status: number, ms: number, note = ''): void {
  const style = status < 400 ? 'green' : 'yellow';
  console.log(`   ${paint(style, String(status))} in ${ms.toFixed(0)} ms${note}`);
}

export function frame(text: string): void {
  console.log(`   ${paint('magenta', 'frame')} ${text}`);
}

export function holds(text: string): void {
  console.log(`   ${paint('green', '✓')} ${text}`);
}

export function fails(text: string): void {
  console.log(`   ${paint('red', '✗')} ${text}`);
}

/** Prints JSON with values on one line where they fit. */
export function json(value: unknown): void {
  console.log(INDENT + render(value, INDENT, 0));
}

function render(value: unknown, indent: string, taken: number): string {
  const line = inLine(value);
  if (indent.length + taken + line.length <= WIDTH) return line;
  if (typeof value !== 'object' || value === null) return line;
  const inner = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((item) => inner + render(item, inner, 0))
    : Object.entries(value).map(([key, item]) => {
        const name = `${JSON.stringify(key)}: `;
        return inner + name + render(item, inner, name.length);
      });
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${items.join(',\n')}\n${indent}${close}`;
}

function inLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const items = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}: ${inLine(item)}`,
  );
  return items.length === 0 ? '{}' : `{ ${items.join(', ')} }`;
}
