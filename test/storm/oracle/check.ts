import type { Evidence } from './evidence.ts';

/** A violated expectation, with enough details to find the cause. */
export interface Violation {
  check: string;
  /** Usually a run id. */
  subject: string;
  expected: string;
  found: string;
  /** When it happened or began, ms since 1970, if known. */
  at?: number;
}

/** The result of one check: how many things it checked, and its violations. */
export interface Finding {
  looked: number;
  violations: Omit<Violation, 'check'>[];
}

export type Check = (evidence: Evidence) => Finding;

/** Collects the findings of a check while it goes through the evidence. */
export function createFinding(): Finding & {
  /** Checks one thing: `holds` false is a violation. */
  expect(
    holds: boolean,
    subject: string,
    expected: string,
    found: unknown,
    at?: number | null,
  ): void;
} {
  const finding = {
    looked: 0,
    violations: [] as Finding['violations'],
    expect(holds: boolean, subject: string, expected: string, found: unknown, at?: number | null) {
      finding.looked += 1;
      if (holds) return;
      const text = typeof found === 'string' ? found : JSON.stringify(found);
      finding.violations.push({
        subject,
        expected,
        found: (text ?? 'undefined').slice(0, 600),
        ...(at == null ? {} : { at }),
      });
    },
  };
  return finding;
}

/** Groups rows by a key, each list in the order of the rows. */
export function groupBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

export const sum = <Row>(rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((total, row) => total + of(row), 0);
