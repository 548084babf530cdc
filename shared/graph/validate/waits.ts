import type { GraphNode, WaitNode } from '#shared/contract/workflows/graph.ts';
import type { Issues } from '#shared/graph/issues.ts';
import { timeOf } from '#shared/values/iso-time.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import { parseSeconds } from '#shared/tools.ts';
import type { LinkedEdge } from '#shared/graph/topology.ts';

const FORMS = ['seconds', 'until', 'event', 'any', 'callback'] as const;
type Form = (typeof FORMS)[number];

/** Checks what a node waits for, and its deadline. `out`: the edges that start at it. */
export function checkWait(
  issues: Issues,
  node: GraphNode,
  at: number,
  out: readonly LinkedEdge[],
): void {
  if (node.kind !== 'wait') return;
  const error = (code: string, message: string, path?: string): void =>
    issues.error(code, `Node '${node.id}': ${message}`, {
      node_id: node.id,
      path: `nodes[${at}]${path === undefined ? '' : `.${path}`}`,
    });
  const forms = FORMS.filter((form) => node[form] !== undefined);
  const [form] = forms;
  if (form === undefined) {
    error('wait_for_nothing', `say what it waits for: set one of ${FORMS.join(', ')}`);
  } else if (forms.length > 1) {
    const message = `it waits for one thing, but has ${forms.join(' and ')}: remove all but one, or use \`any\` for several events`;
    error('wait_for_several', message, forms[1]);
  } else {
    checkReminder(issues, node, at);
    checkTime(error, node);
    checkDeadline(error, node, { form, hasLateEdge: out.some(({ when }) => when === 'false') });
  }
}

/** A warning, for an alert that would come after the deadline. */
function checkReminder(
  issues: Issues,
  { id, seconds, timeout_seconds: timeout, remind_seconds: remind }: WaitNode,
  at: number,
): void {
  const end = typeof seconds === 'number' ? seconds : timeout;
  if (remind === undefined || end === undefined || remind < end) return;
  const message = `Node '${id}': the alert would come after the wait has ended: set remind_seconds below ${end}`;
  issues.warning('wait_reminds_too_late', message, {
    node_id: id,
    path: `nodes[${at}].remind_seconds`,
  });
}

type Report = (code: string, message: string, path?: string) => void;

/** Texts without references are known before the run. */
const isKnown = (text: string): boolean =>
  parseTemplate(text).parts.every((part) => typeof part === 'string');

function checkTime(error: Report, { seconds, until }: WaitNode): void {
  if (typeof seconds === 'string' && isKnown(seconds)) {
    const parsed = parseSeconds(seconds);
    if ('error' in parsed) error('wait_time_invalid', `seconds ${parsed.error}`, 'seconds');
  }
  if (until === undefined || !isKnown(until)) return;
  try {
    timeOf(until);
  } catch (problem) {
    error('wait_time_invalid', (problem as Error).message, 'until');
  }
}

function checkDeadline(
  error: Report,
  { timeout_seconds: timeout, on_timeout: action }: WaitNode,
  { form, hasLateEdge }: { form: Form; hasLateEdge: boolean },
): void {
  const isTime = form === 'seconds' || form === 'until';
  if (isTime && timeout !== undefined) {
    const message = `${form} already says when it ends: remove timeout_seconds`;
    error('wait_timeout_useless', message, 'timeout_seconds');
  } else if (timeout === undefined && action !== undefined) {
    const message = `on_timeout '${action}' needs timeout_seconds: set how long it waits, or remove on_timeout`;
    error('wait_timeout_incomplete', message, 'on_timeout');
  } else if (hasLateEdge && action !== 'continue') {
    const message = isTime
      ? "its 'false' edge is never taken, because a time always comes: remove the edge"
      : "its 'false' edge is for a wait whose time ran out: set timeout_seconds and on_timeout 'continue', or remove the edge";
    error('wait_edge_never_taken', message);
  }
}
