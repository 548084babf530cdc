import type { ExportKind } from '#shared/contract/data/export.ts';
import { exportColumns, type ExportSet } from '#shared/db/data/exports.ts';
import { csvHeader, csvLine } from '#api/http/csv.ts';
import { answerData, type DescribedCall } from './envelope.ts';

/** As CSV, in batches. */
export async function* csvOf(kind: ExportKind, set: ExportSet): AsyncGenerator<string> {
  const columns = exportColumns[kind];
  yield csvHeader(columns);
  for await (const batch of set.batches('texts')) {
    yield batch.map((row) => csvLine(columns.map((column) => row[column]))).join('');
  }
}

/** In the envelope, in batches. */
export async function* jsonOf(request: DescribedCall, set: ExportSet): AsyncGenerator<string> {
  const { data: _none, ...rest } = answerData(request, []);
  let separator = '{"data":[';
  for await (const batch of set.batches('values')) {
    yield separator + batch.map((row) => JSON.stringify(row)).join(',');
    separator = ',';
  }
  const opened = separator === ',' ? '' : separator;
  yield `${opened}],${JSON.stringify(rest).slice(1)}`;
}
