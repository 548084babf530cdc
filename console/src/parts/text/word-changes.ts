/** A part of a text: in both texts, only in the earlier one, or only in the later one. */
export interface WordChange {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

/** Longer texts are compared as a whole, because the time of the comparison grows with the product of their lengths. */
const MAX_WORDS = 600;

/** What has changed between two texts, word by word. */
export function wordChanges(before: string, after: string): WordChange[] {
  const one = before.split(/(?<=\s)/u);
  const other = after.split(/(?<=\s)/u);
  if (one.length > MAX_WORDS || other.length > MAX_WORDS) {
    return [
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ];
  }
  const common = commonLengths(one, other);
  const changes: WordChange[] = [];
  const add = (kind: WordChange['kind'], text: string): void => {
    if (text === '') return;
    const last = changes.at(-1);
    if (last?.kind === kind) last.text += text;
    else changes.push({ kind, text });
  };
  let [at, to] = [0, 0];
  while (at < one.length || to < other.length) {
    if (at < one.length && to < other.length && one[at] === other[to]) {
      add('same', one[at]!);
      at += 1;
      to += 1;
    } else if (
      to >= other.length ||
      (at < one.length && common[at + 1]![to]! >= common[at]![to + 1]!)
    ) {
      add('removed', one[at]!);
      at += 1;
    } else {
      add('added', other[to]!);
      to += 1;
    }
  }
  return changes;
}

/** `[i][j]`: the length of the longest common subsequence of the words from `i` and from `j`. */
function commonLengths(one: readonly string[], other: readonly string[]): number[][] {
  const lengths = Array.from({ length: one.length + 1 }, () =>
    new Array<number>(other.length + 1).fill(0),
  );
  for (let at = one.length - 1; at >= 0; at -= 1) {
    for (let to = other.length - 1; to >= 0; to -= 1) {
      lengths[at]![to] =
        one[at] === other[to]
          ? lengths[at + 1]![to + 1]! + 1
          : Math.max(lengths[at + 1]![to]!, lengths[at]![to + 1]!);
    }
  }
  return lengths;
}

/** How much of what both texts share is shown around what differs. */
const AROUND = 60;

/** The parts of two texts that differ, with a little of what is around them. `most`: the length of each, in characters. */
export function changedExcerpts(
  before: string,
  after: string,
  most: number,
): { before: string; after: string } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const from = Math.max(0, start - AROUND);
  const excerpt = (text: string): string => {
    const to = Math.min(text.length, text.length - end + AROUND);
    const cut = text.slice(from, Math.min(to, from + most));
    return `${from > 0 ? '…' : ''}${cut}${from + cut.length < text.length ? '…' : ''}`;
  };
  return { before: excerpt(before), after: excerpt(after) };
}
