import type { Example } from './example.ts';
import { invoiceExport } from './invoice-export.ts';
import { launchKit } from './launch-kit.ts';
import { researchLoop } from './research-loop.ts';
import { supportTriage } from './support-triage.ts';

export type { Example, ExampleRun } from './example.ts';

/** In the order in which they are best read. */
export const examples: readonly Example[] = [supportTriage, researchLoop, launchKit, invoiceExport];
