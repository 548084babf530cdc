import { gatePage } from '#shared/contract/alerts/alerts.ts';
import type { JsonObject } from '#shared/json.ts';
import { fieldBlocks, type FormField, VALUE } from './form.ts';
import { consequenceBlocks, type ShownGate } from './message.ts';
import { type Block, context, link, plain, section } from './text.ts';

const MAX_PROMPT = 1_000;
const MAX_ARGUMENTS = 3_000;
const MAX_REASON = 1_000;

export const REASON = 'reason';
export const ARGUMENTS = 'arguments';
const CALLBACK = 'decide';

/** What a modal is about. It comes back with what was entered. */
export interface ModalTarget {
  /** The message in the database. */
  message: string;
  approves: boolean;
  digest: string | null;
}

export interface ModalGate {
  gate: ShownGate;
  target: ModalTarget;
  publicUrl: string;
  /** Undefined for a form that Slack cannot show; empty without a form. */
  fields: readonly FormField[] | undefined;
  /** The arguments that can be changed. */
  changeable: JsonObject | undefined;
}

/** What was entered before, and why it did not count. */
export interface Entered {
  input: JsonObject;
  reason: string | undefined;
  arguments: string | undefined;
  notice: string | undefined;
}

const nothingEntered: Entered = {
  input: {},
  reason: undefined,
  arguments: undefined,
  notice: undefined,
};

/** The modal in which a member decides. Without its form, it leads to the console. */
export function decisionModal(asked: ModalGate, entered: Entered = nothingEntered): JsonObject {
  const { gate, target, publicUrl, fields } = asked;
  const { approves, message, digest } = target;
  const word = approves ? 'Approve' : 'Reject';
  const page = link(publicUrl + gatePage(gate.run_id, gate.node_id, gate.step_key), 'console');
  if (approves && fields === undefined) {
    const text = `This form has fields that cannot be shown here. Approve in the ${page}.`;
    return resultModal(word, [section(gate.title, MAX_PROMPT), context(text)]);
  }
  return {
    type: 'modal',
    callback_id: CALLBACK,
    private_metadata: JSON.stringify({ message, approves, digest }),
    title: plain(word, 24),
    submit: plain(word, 24),
    close: plain('Cancel', 24),
    blocks: [
      ...(entered.notice === undefined ? [] : [section(`⚠ ${entered.notice}`, 1_000)]),
      section(gate.prompt === '' ? gate.title : gate.prompt, MAX_PROMPT),
      ...consequenceBlocks(gate, approves ? 'approve' : 'reject'),
      ...(approves ? fieldBlocks(fields ?? [], entered.input) : []),
      ...(approves ? argumentBlocks(asked, entered, page) : []),
      {
        type: 'input',
        block_id: REASON,
        optional: true,
        label: plain('Reason'),
        element: {
          type: 'plain_text_input',
          action_id: VALUE,
          multiline: true,
          max_length: MAX_REASON,
          ...(entered.reason === undefined ? {} : { initial_value: entered.reason }),
        },
      },
    ],
  };
}

function argumentBlocks({ changeable }: ModalGate, entered: Entered, page: string): Block[] {
  if (changeable === undefined) return [];
  const text = entered.arguments ?? JSON.stringify(changeable, null, 2);
  if (text.length > MAX_ARGUMENTS) return [context(`To change the arguments, use the ${page}.`)];
  return [
    {
      type: 'input',
      block_id: ARGUMENTS,
      label: plain('Arguments'),
      hint: plain('JSON. Change it to approve the call with other arguments.', 150),
      element: {
        type: 'plain_text_input',
        action_id: VALUE,
        multiline: true,
        initial_value: text,
      },
    },
  ];
}

/** A modal that only says something. */
export const resultModal = (title: string, blocks: readonly Block[]): JsonObject => ({
  type: 'modal',
  callback_id: 'result',
  title: plain(title, 24),
  close: plain('Close', 24),
  blocks: [...blocks],
});
