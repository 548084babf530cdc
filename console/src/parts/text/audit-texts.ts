import { auditActions, auditTargets } from '#shared/contract/audit/audit.ts';

const textIn = (texts: Record<string, string>, name: string): string =>
  Object.hasOwn(texts, name) ? (texts[name] ?? name) : name;

/** The label of an audit entry's action. An action from another version of the service is shown by its name. */
export const actionText = (action: string): string => textIn(auditActions, action);

/** The type of the target of an entry. */
export const targetText = (type: string): string => textIn(auditTargets, type);
