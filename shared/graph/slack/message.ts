import { gatePage } from '#shared/contract/alerts/alerts.ts';
import type { Gate, GateVote } from '#shared/contract/gates/gate.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import type { JsonObject } from '#shared/json.ts';
import { answerLines, argumentText } from './consequence-lines.ts';
import {
  type Block,
  context,
  link,
  plain,
  section,
  sectionsOf,
  slackText,
  timeText,
} from './text.ts';

/** The most sections with what the answers set in motion. */
const MAX_SECTIONS = 6;
const MAX_PROMPT = 2_000;
/** What a button can carry. */
const MAX_VALUE = 2_000;

export const APPROVE = 'approve';
export const REJECT = 'reject';

/** A gate as its message shows it. */
export interface ShownGate extends Pick<
  Gate,
  | 'run_id'
  | 'node_id'
  | 'step_key'
  | 'kind'
  | 'title'
  | 'prompt'
  | 'arguments'
  | 'status'
  | 'decision'
  | 'consequences'
  | 'digest'
> {
  workflow_name: string;
  settings: GateSettings;
  votes: readonly GateVote[];
  tool: string | null;
  /** Whether this opening of the gate is over, without a decision that is known. */
  superseded: boolean;
}

/** What Slack gets. A message is final if nothing about it can change. */
export interface SlackMessage {
  text: string;
  blocks: Block[];
  final: boolean;
}

/** The message about one opening of a gate, as it is now. */
export function gateMessage(gate: ShownGate, publicUrl: string): SlackMessage {
  const isOpen = gate.status === 'open' && !gate.superseded;
  const isHidden = gate.settings.signed_in === true;
  const heading = isOpen ? 'Approval needed' : outcomeTitle(gate);
  const blocks: Block[] = [
    { type: 'header', text: plain(heading, 140) },
    context(
      plain(`Workflow ${gate.workflow_name}`, 200),
      link(`${publicUrl}/runs/${encodeURIComponent(gate.run_id)}`, gate.run_id),
    ),
    ...(isHidden ? [] : [section(gate.prompt === '' ? gate.title : gate.prompt, MAX_PROMPT)]),
    ...(isOpen ? openBlocks(gate, publicUrl, isHidden) : endBlocks(gate, publicUrl)),
  ];
  return {
    text: `${heading} - ${slackText(gate.workflow_name.replaceAll(/\s+/g, ' '), 200)}`,
    blocks,
    final: !isOpen,
  };
}

function openBlocks(gate: ShownGate, publicUrl: string, isHidden: boolean): Block[] {
  const open = {
    type: 'button',
    action_id: 'open',
    text: plain('Open in console', 70),
    url: publicUrl + gatePage(gate.run_id, gate.node_id, gate.step_key),
  };
  const { run_id: run, step_key: step, digest } = gate;
  const value = JSON.stringify({ run, step, digest });
  const decides = !isHidden && value.length <= MAX_VALUE;
  const shown = isHidden ? [] : consequenceBlocks(gate);
  return [
    ...shown,
    ...(isHidden ? [section('Only members who have signed in can decide: open the console.')] : []),
    ...(isHidden ? [] : ruleBlocks(gate)),
    {
      type: 'actions',
      elements: [
        ...(decides ? [button(APPROVE, 'Approve', value), button(REJECT, 'Reject', value)] : []),
        open,
      ],
    },
  ];
}

const button = (id: string, text: string, value: string): JsonObject => ({
  type: 'button',
  action_id: id,
  text: plain(text, 70),
  style: id === APPROVE ? 'primary' : 'danger',
  value,
});

/** What is sent, and what each answer sets in motion. `only`: that of one answer. */
export function consequenceBlocks(
  {
    kind,
    tool,
    arguments: given,
    consequences,
  }: Pick<ShownGate, 'kind' | 'tool' | 'arguments' | 'consequences'>,
  only?: 'approve' | 'reject',
): Block[] {
  const isCall = kind === 'tool_call';
  const args = argumentText(given ?? null);
  const call =
    isCall && only !== 'reject'
      ? [
          `If it is approved, ${tool ?? 'the step'} is executed with exactly these arguments:`,
          args.text,
        ]
      : [];
  if (consequences === null) {
    const { blocks } = sectionsOf([...call, 'What happens after the decision is not known.'], 2);
    return blocks;
  }
  const { approve, reject, timeout } = consequences;
  const answers = [
    ...(only === 'reject'
      ? []
      : [answerLines(approve, isCall ? 'After that' : 'If it is approved', isCall)]),
    ...(only === 'approve' ? [] : [answerLines(reject, 'If it is rejected')]),
    ...(timeout === undefined || only !== undefined
      ? []
      : [answerLines(timeout, 'If no one decides in time')]),
  ];
  const lines = [...call, ...answers.flatMap((answer) => answer.lines)];
  const { blocks, left } = sectionsOf(lines, MAX_SECTIONS);
  const cut = left > 0 || (isCall && args.cut) || answers.some((answer) => answer.cut);
  return cut
    ? [...blocks, context('*Not all of it fits here.* Open it in the console to read the rest.')]
    : blocks;
}

function ruleBlocks({ settings, votes }: ShownGate): Block[] {
  const { required = 1 } = settings;
  const approved = votes.filter((vote) => vote.approved);
  const names = approved.map(({ by }) => by ?? 'an API key').join(', ');
  const parts = [
    ...(required === 1 ? [] : [`${approved.length} of ${required} approvals`]),
    ...(names === '' ? [] : [`approved by ${names}`]),
    ...(settings.approvers === undefined ? [] : ['only its approvers can decide']),
    ...(settings.not_the_starter === true ? ['not the member who started the run'] : []),
  ];
  return parts.length === 0 ? [] : [context(plain(parts.join(', '), 500))];
}

function outcomeTitle({ status, decision, superseded }: ShownGate): string {
  if (superseded || status === 'cancelled' || status === 'open') return 'No longer needed';
  const word = status === 'approved' ? 'Approved' : 'Rejected';
  return decision?.timed_out === undefined ? word : 'Timed out';
}

function endBlocks(gate: ShownGate, publicUrl: string): Block[] {
  const page = link(
    publicUrl + gatePage(gate.run_id, gate.node_id, gate.step_key),
    'Open in console',
  );
  const { decision } = gate;
  if (gate.superseded || decision === null) {
    const why = 'The run was cancelled, has ended, or asks again in another message.';
    return [context(plain(why), page)];
  }
  const {
    approved,
    by,
    reason,
    at,
    timed_out: timedOut,
    by_link: byLink,
    by_slack: bySlack,
  } = decision;
  const how = bySlack === true ? ', in Slack' : byLink === true ? ', by link' : '';
  const who =
    timedOut === undefined
      ? `${approved ? 'Approved' : 'Rejected'} by ${by ?? 'an API key'}${how}`
      : `No one decided in time: ${timedOut}`;
  return [
    ...(reason === null || timedOut !== undefined ? [] : [section(`Reason: ${reason}`, 1_200)]),
    context(plain(who, 300), timeText(at), page),
  ];
}

/** The reply to a message that still waits. */
export const reminderText = 'Reminder: this still waits for a decision.';
