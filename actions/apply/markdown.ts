/** GitHub accepts 65,536 characters in a comment. */
const MAX_TEXT = 60_000;

/** A text as a block of code, whatever it contains. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const cut = text.length > MAX_TEXT / 4 ? `${text.slice(0, MAX_TEXT / 4)}\n… (cut)` : text;
  return `${fence}\n${cut.trimEnd()}\n${fence}`;
}

/** Parts with an empty line between them, as long as GitHub accepts them. */
export function joined(parts: readonly string[]): string {
  let all = '';
  for (const part of parts) {
    if (all.length + part.length > MAX_TEXT) return `${all}\n\n… (cut)\n`;
    all += all === '' ? part : `\n\n${part}`;
  }
  return `${all}\n`;
}
