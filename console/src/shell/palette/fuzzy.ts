/**
 * How well a text matches the typed text: undefined if it does not; otherwise, higher is better. Each typed word occurs in the
 * text, or abbreviates one word of it. Whole parts and starts of words count most.
 */
export function scoreOf(text: string, typed: string): number | undefined {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return 0;
  const lower = text.toLowerCase();
  const at = lower.indexOf(wanted);
  if (at >= 0) return 1_000 - at + (startsWord(lower, at) ? 500 : 0) - lower.length / 100;
  const words = lower.split(/[^\p{L}\p{N}]+/u);
  let score = -lower.length / 100;
  for (const part of wanted.split(/\s+/)) {
    const found = lower.indexOf(part);
    if (found >= 0) score += startsWord(lower, found) ? 100 : 50;
    else if (words.some((word) => abbreviates(part, word))) score += 10;
    else return undefined;
  }
  return score;
}

/** Whether the characters occur in this order in the word, and begin with its first one. */
function abbreviates(typed: string, word: string): boolean {
  if (word === '' || !typed.startsWith(word.charAt(0))) return false;
  let from = 0;
  for (const character of typed) {
    const found = word.indexOf(character, from);
    if (found < 0) return false;
    from = found + 1;
  }
  return true;
}

const startsWord = (text: string, at: number): boolean =>
  at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1));
