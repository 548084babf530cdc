import { detectorTexts } from '#console/src/messages/en/governance/policies.ts';
import type { DetectorName } from './policy-draft.ts';

export const detectorNames = Object.keys(detectorTexts) as DetectorName[];
