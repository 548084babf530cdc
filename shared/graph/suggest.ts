/** The maximum edit distance of a typo, by length; 0 for the shortest names. */
const maxTypos = (name: string): number => (name.length < 4 ? 0 : name.length < 6 ? 1 : 2);

/** The closest name within the distance of a typo; undefined when there is none. */
export function suggest(written: string, names: Iterable<string>): string | undefined {
  const most = maxTypos(written);
  let best: { name: string; distance: number } | undefined;
  for (const name of names) {
    if (name === written || Math.abs(name.length - written.length) > most) continue;
    const distance = distanceOf(written, name);
    if (distance <= most && (best === undefined || distance < best.distance)) {
      best = { name, distance };
    }
  }
  return best?.name;
}

/** `; did you mean 'draft'?`, or nothing. */
export function hint(written: string, names: Iterable<string>): string {
  const meant = suggest(written, names);
  return meant === undefined ? '' : `; did you mean '${meant}'?`;
}

/** Optimal string alignment: insertions, deletions, substitutions and swaps of neighbors. */
function distanceOf(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      let least = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (same ? 0 : 1),
      );
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (row > 1 && column > 1 && swapped) least = Math.min(least, beforeLast[column - 2]! + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length]!;
}
