/**
 * How well a text matches the typed text: undefined if its characters do not occur in order; otherwise, higher is
 * better. Whole parts and starts of words count most.
 */
export function scoreOf(text: string, typed: string): number | undefined {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return 0;
  const lower = text.toLowerCase();
  const at = lower.indexOf(wanted);
  if (at >= 0) return 1_000 - at + (startsWord(lower, at) ? 500 : 0) - lower.length / 100;
  let score = 0;
  let from = 0;
  for (const character of wanted.replaceAll(/\s+/g, '')) {
    const found = lower.indexOf(character, from);
    if (found < 0) return undefined;
    score += startsWord(lower, found) ? 10 : found === from ? 5 : 0;
    from = found + 1;
  }
  return score - lower.length / 100;
}

const startsWord = (text: string, at: number): boolean =>
  at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1));
