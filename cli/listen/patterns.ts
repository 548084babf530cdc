import { type OutboundEventType, outboundEventTypes } from '#shared/contract/data/outbound.ts';
import { misuse } from '#cli/endings.ts';

/**
 * The event types that a list such as `run.*,approval.requested` names; all without a list. Throws Ending for a pattern
 * that matches none.
 */
export function eventTypesIn(list: string | undefined): OutboundEventType[] {
  if (list === undefined) return [...outboundEventTypes];
  const found = new Set<OutboundEventType>();
  for (const pattern of list.split(',').map((each) => each.trim())) {
    const matching = outboundEventTypes.filter((type) => matches(pattern, type));
    if (matching.length === 0) {
      throw misuse(`--events '${pattern}' matches none of ${outboundEventTypes.join(', ')}`);
    }
    for (const type of matching) found.add(type);
  }
  return [...found];
}

/** `*` matches any characters. */
function matches(pattern: string, type: string): boolean {
  if (!/^[\w.*]+$/.test(pattern)) return false;
  const expression = pattern.replaceAll('.', '\\.').replaceAll('*', '.*');
  return new RegExp(`^${expression}$`).test(type);
}
