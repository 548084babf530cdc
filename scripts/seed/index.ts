import { budgetedResearch } from '#shared/templates/budgeted-research.ts';
import { dataSteward } from '#shared/templates/data-steward.ts';
import { permitOutreach } from '#shared/templates/permit-outreach.ts';
import { launchKit } from '#shared/templates/launch-kit.ts';
import { researchLoop } from '#shared/templates/research-loop.ts';
import { supportTriage } from '#shared/templates/support-triage.ts';
import type { BuiltInTemplate } from '#shared/templates/template.ts';
import type { Example, ExampleRun } from './example.ts';
import { invoiceExport } from './invoice-export.ts';

export type { Example, ExampleRun } from './example.ts';

const example = (
  { name, description, graph, checks, limits, sampleInput }: BuiltInTemplate,
  sample: Omit<ExampleRun, 'input'>,
  ...others: ExampleRun[]
): Example => ({
  name,
  description,
  graph,
  checks,
  ...(limits === undefined ? {} : { limits }),
  runs: [...others, { ...sample, input: sampleInput }],
});

/** In reading order: templates with runs that show what they do, and one example that fails. */
export const examples: readonly Example[] = [
  example(
    supportTriage,
    { key: 'example-triage-order', ends: 'paused' },
    {
      key: 'example-triage-question',
      input: { ticket: 'Where do I change the address on our invoices?' },
      ends: 'success',
    },
  ),
  example(dataSteward, { key: 'example-steward', ends: 'paused' }),
  example(budgetedResearch, { key: 'example-budgeted-research', ends: 'success' }),
  example(researchLoop, { key: 'example-research', ends: 'success' }),
  example(launchKit, { key: 'example-launch', ends: 'success' }),
  // With a limit that shows a queue. Its trigger starts no run, because demo data sends no events.
  {
    ...example(
      permitOutreach,
      { key: 'example-outreach-queued', ends: 'pending' },
      {
        key: 'example-outreach',
        input: { intelligence_event_id: 'permit-0', summary: 'A permit for a roof was issued.' },
        ends: 'running',
      },
    ),
    limits: { concurrency: { limit: 1 } },
    trigger: {
      event: 'intelligence_event.verified',
      match: "event.data.event_type == 'permit_filed'",
    },
  },
  invoiceExport,
];
