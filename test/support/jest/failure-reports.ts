/** Describes the state that a failed test leaves, for example what its browser shows. */
type Report = () => Promise<string>;

const reports = new Set<Report>();

/** Adds a report to the message of every test that fails from now on. Returns what removes it. */
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
