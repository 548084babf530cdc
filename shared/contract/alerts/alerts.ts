import { connectionPage } from '#shared/values/connection-callback.ts';
import { inChat } from '#shared/values/markup.ts';
import { usd } from '#shared/money/money.ts';
import type { AlertPercent, BudgetWindow } from '#shared/contract/money/budget.ts';
import { PRODUCT_NAME } from '#shared/values/product.ts';

/** The event of an alert about a run: it failed, waits for a person, or waits for long. */
export const runAlertEvents = ['failed', 'paused', 'waiting'] as const;
export type RunAlertEvent = (typeof runAlertEvents)[number];

/**
 * The events that all channels send: those of runs, budgets that have spent a part of their limit, and connections of the
 * workspace that need a sign-in.
 */
export const alertEvents = [...runAlertEvents, 'budget', 'connection'] as const;

/** The channels of alerts; each is delivered separately. Slack gets the gates, and tests. */
export const alertChannels = ['chat', 'email', 'slack'] as const;
export type AlertChannel = (typeof alertChannels)[number];

/** A run that needs a person. */
interface RunAlert {
  event: RunAlertEvent;
  run_id: string;
  workspace_id: string;
  /** Missing in alerts stored before this field existed: then the settings of the workspace count. */
  workflow_id?: string;
  workflow_name: string;
  /** The run's error, the gate's prompt, or what the step waits for. */
  text: string;
  /** The gate or the step at which it waits. Missing in alerts stored before this field existed. */
  node_id?: string;
  /** The step of the gate. Missing in alerts stored before this field existed. */
  step_key?: string;
}

/** A gate was assigned to a member. The alert goes to this member only, by email. */
interface AssignmentAlert {
  event: 'assigned';
  run_id: string;
  workspace_id: string;
  workflow_name: string;
  /** The gate's prompt. */
  text: string;
  node_id: string;
  step_key: string;
  member_id: string;
  /** The name of the member who assigned it, if they have one. */
  by: string | null;
}

/** A gate is open, or still is. The alert goes to those who are expected to decide it, by email, each with a link. */
interface RequestAlert {
  event: 'requested';
  run_id: string;
  workspace_id: string;
  workflow_name: string;
  /** The gate's prompt. */
  text: string;
  node_id: string;
  step_key: string;
  round: number;
}

/** A gate has opened, has changed, or still waits: its message in Slack follows. */
export interface GateAlert {
  event: 'gate';
  workspace_id: string;
  run_id: string;
  workflow_name: string;
  /** The message in the database. */
  message_id: string;
  reminds: boolean;
}

/** A budget that has spent this much of its limit. The amounts are in micro-dollars. */
interface BudgetAlert {
  event: 'budget';
  workspace_id: string;
  budget_id: string;
  budget_name: string;
  percent: AlertPercent;
  spent_micros: number;
  limit_micros: number;
  window: BudgetWindow;
  /** The first day (UTC) of the window; null for `total`. */
  window_start: string | null;
}

/** A service no longer accepts the sign-in to a connection, or a step waits for the first one of a member. */
export interface ConnectionAlert {
  event: 'connection';
  workspace_id: string;
  connection_id: string;
  connection_name: string;
  /** The member whose account it is: the alert goes to them only, by email. Null: that of the workspace. */
  member_id: string | null;
  /** The first step that waits for it; absent: the service refuses the token. */
  step?: { run_id: string; workflow_name: string; label: string };
}

/** A test alert, requested by a member. */
export interface TestAlert {
  event: 'test';
  workspace_id: string;
  /** The name of the member who requested it, if they have one. */
  by: string | null;
}

export type Alert =
  | RunAlert
  | AssignmentAlert
  | RequestAlert
  | GateAlert
  | BudgetAlert
  | ConnectionAlert
  | TestAlert;

/** An alert that goes to members, not to the addresses of the workspace. */
export type MemberAlert = AssignmentAlert | RequestAlert;

/** An alert with a text for chats and emails. */
export type WrittenAlert = Exclude<Alert, GateAlert>;

export const isMemberAlert = (alert: Alert): alert is MemberAlert =>
  alert.event === 'assigned' || alert.event === 'requested';

/** The workflow type that sends one alert. Its workflow id identifies the outbox row. */
export const ALERT_WORKFLOW = 'sendAlert';

/** Contains no address: addresses are secrets, and the sender reads them when it sends. */
export interface SendAlertInput {
  alert: Alert;
  channels: AlertChannel[];
  task_queue: string;
}

export interface AlertCall {
  alert: Alert;
  channel: AlertChannel;
}

export interface AlertTexts {
  chat: string;
  subject: string;
  body: string;
}

const SENDER = `[${PRODUCT_NAME}]`;

/** A name is free text. A subject is a single line, so line breaks become spaces. */
export const oneLine = (name: string): string => name.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');

/**
 * The URL of a gate's page. In a map, or as an agent with tool calls, a node can have several open gates; without a
 * step, the page shows the first of them.
 */
export function gatePage(runId: string, nodeId: string, stepKey?: string): string {
  const page = `/approvals/${encodeURIComponent(runId)}/${encodeURIComponent(nodeId)}`;
  return stepKey === undefined || stepKey === nodeId
    ? page
    : `${page}?step=${encodeURIComponent(stepKey)}`;
}

/**
 * The text for people. The last line is the URL of the page where they can act, below `publicUrl`. Names, prompts and
 * errors were written by others, so chats show them as plain text, without markup.
 */
export function alertTexts(alert: WrittenAlert, publicUrl: string): AlertTexts {
  const { title, line, page } = contentOf(alert);
  const said = contentOf(written(alert, inChat)).line;
  return {
    chat: `${SENDER} ${said}\n${publicUrl}${page}`,
    subject: `${SENDER} ${title}`,
    body: `${line}\n${publicUrl}${page}`,
  };
}

/** The characters of the question in an email with a link. The page shows all of it. */
const MAX_ASKED = 1_000;

/**
 * The text of an email with which a member can decide. The token is in the fragment, so that no server gets it when the
 * page is opened. `expiresAt` is ISO 8601.
 */
export function linkText(
  body: string,
  {
    publicUrl,
    token,
    name,
    expiresAt,
  }: Record<'publicUrl' | 'token' | 'name' | 'expiresAt', string>,
): string {
  const end = body.lastIndexOf('\n');
  const until = `${expiresAt.slice(0, 16).replace('T', ' ')} UTC`;
  return [
    // What others wrote cannot look like the lines below it.
    oneLine(body.slice(0, end)).slice(0, MAX_ASKED),
    '',
    `Decide without signing in, until ${until}, once:`,
    `${publicUrl}/decide#${token}`,
    '',
    `The link is for ${oneLine(name)}. Anyone who has it can decide in this name, so do not forward this email.`,
    '',
    'Or sign in:',
    body.slice(end + 1),
  ].join('\n');
}

/** The alert with these texts. */
const written = <A extends WrittenAlert>(alert: A, write: (text: string) => string): A => ({
  ...alert,
  ...('by' in alert && alert.by !== null ? { by: write(alert.by) } : {}),
  ...('text' in alert
    ? { workflow_name: write(alert.workflow_name), text: write(alert.text) }
    : {}),
  ...('budget_name' in alert ? { budget_name: write(alert.budget_name) } : {}),
  ...('step' in alert && alert.step !== undefined ? { step: writtenStep(alert.step, write) } : {}),
});

const writtenStep = (
  { run_id, workflow_name, label }: NonNullable<ConnectionAlert['step']>,
  write: (text: string) => string,
): ConnectionAlert['step'] => ({
  run_id,
  workflow_name: write(workflow_name),
  label: write(label),
});

function contentOf(alert: WrittenAlert): { title: string; line: string; page: string } {
  if (alert.event === 'test') {
    const by = alert.by === null ? '' : `, requested by ${alert.by}`;
    return { title: 'Test alert', line: `This is a test of alerts${by}`, page: '/' };
  }
  if (alert.event === 'budget') return contentOfBudget(alert);
  if (alert.event === 'connection') {
    const { connection_id: id, connection_name: name, step } = alert;
    const page = connectionPage(id);
    if (step !== undefined) {
      const { run_id, workflow_name, label } = step;
      return {
        title: `Sign in - ${name}`,
        line: `Run ${run_id} of '${workflow_name}' waits at '${label}' until you sign in to the connection '${name}'`,
        page,
      };
    }
    return {
      title: `Sign in again - ${name}`,
      line: `The service of the connection '${name}' no longer accepts the sign-in: steps that need it fail or wait until someone signs in again`,
      page,
    };
  }
  const { run_id, workflow_name, text, node_id, step_key } = alert;
  const run = `Run ${run_id} of '${workflow_name}'`;
  const workflow = oneLine(workflow_name);
  if (alert.event === 'assigned') {
    return {
      title: `Approval assigned to you - ${workflow}`,
      line: `${alert.by ?? 'An API key'} assigned you an approval of ${run}: ${text}`,
      page: gatePage(run_id, alert.node_id, step_key),
    };
  }
  if (alert.event === 'requested') {
    return {
      title: `Your approval is needed - ${workflow}`,
      line: `${run} waits for your decision: ${text}`,
      page: gatePage(run_id, alert.node_id, step_key),
    };
  }
  const page = `/runs/${encodeURIComponent(run_id)}`;
  if (alert.event === 'failed') {
    return { title: `Run failed - ${workflow}`, line: `${run} failed: ${text}`, page };
  }
  if (alert.event === 'waiting') {
    const at = step_key === undefined ? page : `${page}?step=${encodeURIComponent(step_key)}`;
    return {
      title: `Run still waits - ${workflow}`,
      line: `${run} still waits: ${text}`,
      page: at,
    };
  }
  return {
    title: `Approval needed - ${workflow}`,
    line: `${run} is paused at a human gate: ${text}`,
    page: node_id === undefined ? page : gatePage(run_id, node_id, step_key),
  };
}

function contentOfBudget(alert: BudgetAlert): { title: string; line: string; page: string } {
  const { budget_name: name, percent, window, window_start: start } = alert;
  const period = start === null ? 'in total' : `in the ${window} from ${start} (UTC)`;
  const spent = `$${usd(alert.spent_micros)} of $${usd(alert.limit_micros)} spent ${period}`;
  const isFull = percent === 100;
  return {
    title: `Budget ${isFull ? 'limit reached' : `at ${percent}%`} - ${oneLine(name)}`,
    line: `Budget '${name}' has reached ${isFull ? 'its limit, so new runs are refused' : `${percent}% of its limit`}: ${spent}`,
    page: '/budgets',
  };
}
