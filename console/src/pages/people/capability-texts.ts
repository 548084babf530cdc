import type { Capability } from '#client/index.ts';
import { capabilityTexts } from '#console/src/messages/en/people/permissions.ts';

export const capabilityNames = Object.keys(capabilityTexts) as Capability[];
