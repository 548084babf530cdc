/** What an alert tells of: a run that failed, or one that waits for a person. */
export const alertEvents = ['failed', 'paused'] as const;
export type AlertEvent = (typeof alertEvents)[number];

/** The two ways an alert goes, each on its own. */
export const alertChannels = ['chat', 'email'] as const;
export type AlertChannel = (typeof alertChannels)[number];

export interface Alert {
  run_id: string;
  workspace_id: string;
  workflow_name: string;
  event: AlertEvent;
  /** The run's error, or the gate's prompt. */
  text: string;
}

export interface AlertTexts {
  chat: string;
  subject: string;
  body: string;
}

const SENDER = '[Service]';

/** A name is free text; in a subject, which is a single line, its line breaks become spaces. */
export const oneLine = (name: string): string => name.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');

/** What people read. */
export function alertTexts(alert: Alert): AlertTexts {
  const run = `Run ${alert.run_id} of '${alert.workflow_name}'`;
  const failed = alert.event === 'failed';
  const body = failed
    ? `${run} failed: ${alert.text}`
    : `${run} is paused at a human gate: ${alert.text}`;
  const title = failed ? 'Run failed' : 'Approval needed';
  return {
    chat: `${SENDER} ${body}`,
    subject: `${SENDER} ${title} - ${oneLine(alert.workflow_name)}`,
    body,
  };
}
