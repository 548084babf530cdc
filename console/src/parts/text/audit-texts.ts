import { auditActions, auditTargets } from '#shared/contract/audit/audit.ts';

const textIn = (texts: Record<string, string>, name: string): string =>
  Object.hasOwn(texts, name) ? (texts[name] ?? name) : name;

/** What an entry of the audit log says that was done. An action of another version of the service is shown by its name. */
export const actionText = (action: string): string => textIn(auditActions, action);

/** The type of the target of an entry. */
export const targetText = (type: string): string => textIn(auditTargets, type);
