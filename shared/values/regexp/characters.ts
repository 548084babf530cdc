type Range = readonly [low: number, high: number];

const LAST = 0x10ffff;

/** A set of Unicode code points. */
export class Characters {
  /** Sorted, neither overlapping nor adjacent. */
  private readonly ranges: readonly Range[];

  private constructor(ranges: readonly Range[]) {
    this.ranges = ranges;
  }

  static of(ranges: readonly Range[]): Characters {
    const joined: [number, number][] = [];
    for (const [low, high] of ranges.toSorted(([a], [b]) => a - b)) {
      const before = joined.at(-1);
      if (before !== undefined && low <= before[1] + 1) before[1] = Math.max(before[1], high);
      else joined.push([low, high]);
    }
    return new Characters(joined);
  }

  static single(code: number): Characters {
    return Characters.of([[code, code]]);
  }

  static union(sets: readonly Characters[]): Characters {
    return Characters.of(sets.flatMap((set) => set.ranges));
  }

  /** The highest code point; -1 if the set is empty. */
  get last(): number {
    return this.ranges.at(-1)?.[1] ?? -1;
  }

  negated(): Characters {
    const gaps: Range[] = [];
    let low = 0;
    for (const range of this.ranges) {
      if (range[0] > low) gaps.push([low, range[0] - 1]);
      low = range[1] + 1;
    }
    if (low <= LAST) gaps.push([low, LAST]);
    return new Characters(gaps);
  }

  isDisjointFrom(other: Characters): boolean {
    return !this.ranges.some(([low, high]) => other.ranges.some(([a, b]) => a <= high && low <= b));
  }

  isSubsetOf(other: Characters): boolean {
    return this.isDisjointFrom(other.negated());
  }

  /** Adds the other cases of its ASCII letters, by Unicode's simple case folding: k and s have three each. */
  withAsciiCases(): Characters {
    const shift = (low: number, high: number, by: number): Range[] =>
      this.ranges
        .map(([a, b]): Range => [Math.max(a, low) + by, Math.min(b, high) + by])
        .filter(([a, b]) => a <= b);
    const cased = Characters.of([
      ...this.ranges,
      ...shift(0x41, 0x5a, 0x20),
      ...shift(0x61, 0x7a, -0x20),
    ]);
    const has = (code: number): boolean => !cased.isDisjointFrom(Characters.single(code));
    return Characters.of([
      ...cased.ranges,
      ...(has(0x6b) ? ([[0x212a, 0x212a]] as const) : []),
      ...(has(0x73) ? ([[0x17f, 0x17f]] as const) : []),
    ]);
  }

  /** A character class for a regular expression with the flag `u` and without `i`. */
  source(): string {
    const written = this.ranges.map(([low, high]) =>
      low === high ? escaped(low) : `${escaped(low)}-${escaped(high)}`,
    );
    return `[${written.join('')}]`;
  }
}

const escaped = (code: number): string => `\\u{${code.toString(16)}}`;
