import { budgetedResearch } from './budgeted-research.ts';
import { contentPipeline } from './content-pipeline.ts';
import { dataSteward } from './data-steward.ts';
import { documentReview } from './document-review.ts';
import { incidentRunbook } from './incident-runbook.ts';
import { invoiceBatch } from './invoice-batch.ts';
import { launchKit } from './launch-kit.ts';
import { leadEnrichment } from './lead-enrichment.ts';
import { permitOutreach } from './permit-outreach.ts';
import { researchLoop } from './research-loop.ts';
import { serviceMonitoring } from './service-monitoring.ts';
import { supportTriage } from './support-triage.ts';
import type { BuiltInTemplate } from './template.ts';

/** In the recommended reading order. Some are the examples of a new installation. */
export const builtInTemplates: readonly BuiltInTemplate[] = [
  supportTriage,
  dataSteward,
  budgetedResearch,
  leadEnrichment,
  documentReview,
  invoiceBatch,
  permitOutreach,
  serviceMonitoring,
  contentPipeline,
  incidentRunbook,
  researchLoop,
  launchKit,
];
