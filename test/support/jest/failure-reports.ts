/** Describes the state after a failed test, for example the page in its browser. */
type Report = () => Promise<string>;

const reports = new Set<Report>();

/** Adds a report to the message of every later test failure. Returns a function that removes it. */
export function reportOnFailure(report: Report): () => void {
  reports.add(report);
  return () => reports.delete(report);
}

/** Appends the reports to an error that failed a test. */
export async function addReports(error: unknown): Promise<void> {
  if (!(error instanceof Error)) return;
  for (const report of reports) {
    const text = await report().catch((failure: unknown) => `no report: ${String(failure)}`);
    error.message += `\n\n${text}`;
    error.stack = `${error.stack ?? error.message}\n\n${text}`;
  }
}
