/**
 * JSON text with sorted object keys, so that equal values give equal texts. Values without a JSON form are treated as
 * by JSON.stringify. Not recursive, since drafts from clients can have any depth.
 */
export function canonicalJson(value: unknown): string {
  const parts: string[] = [];
  const open: Pending[] = [];
  put(open, '', value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') parts.push(next);
    else if (Array.isArray(next)) openList(open, next);
    else openObject(open, next);
  }
  return parts.join('');
}

/** Finished text, or a list or object that is not serialized yet. */
type Pending = string | object;

function put(open: Pending[], before: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) {
    open.push(before + (JSON.stringify(value) ?? 'null'));
    return;
  }
  open.push(value);
  if (before !== '') open.push(before);
}

// Last in, first out: items are pushed in reverse order.
function openList(open: Pending[], list: readonly unknown[]): void {
  open.push(']');
  for (let at = list.length - 1; at >= 0; at -= 1) put(open, at === 0 ? '' : ',', list[at]);
  open.push('[');
}

function openObject(open: Pending[], object: object): void {
  const members = object as Record<string, unknown>;
  const keys = Object.keys(members)
    .filter((key) => members[key] !== undefined)
    .sort();
  open.push('}');
  for (let at = keys.length - 1; at >= 0; at -= 1) {
    const key = keys[at]!;
    put(open, `${at === 0 ? '' : ','}${JSON.stringify(key)}:`, members[key]);
  }
  open.push('{');
}

/**
 * The size of a text in UTF-8, in bytes. It does not use TextEncoder, which copies the text and does not exist in
 * workflow code.
 */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) bytes += 1;
    // Each half of a surrogate pair accounts for two of its four bytes.
    if (unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff)) bytes += 1;
  }
  return bytes;
}
