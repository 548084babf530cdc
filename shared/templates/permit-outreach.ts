import { type BuiltInTemplate, node } from './template.ts';

const THREE_DAYS_SECONDS = 259_200;

/**
 *                                  true ┌─ answer ──────────────────────┐
 *   draft ── announce ── reply ─────────┤                               ├── report
 *                                 false └─ ask ─┬─ true ── remind ──────┤
 *                                               └─ false ── close ──────┘
 */
export const permitOutreach: BuiltInTemplate = {
  id: 'tpl_permit-outreach',
  name: 'Permit outreach',
  description:
    'Writes to the owner of a permit that was verified, waits three days for a reply, and then asks a person whether to ' +
    'send a reminder, for five permits at a time. Start it by an event trigger for intelligence_event.verified, whose data is the input: ' +
    'intelligence_event_id, summary (texts). It announces its draft with the event outreach.drafted; a program that has ' +
    'sent it reports a reply with the event outreach.replied and the data permit (the intelligence_event_id) and text. ' +
    'Shows: events of the data API, a wait for an event with a deadline, an event that a run sends, a limit of runs in flight.',
  graph: {
    nodes: [
      node('agent', 'draft', 'Draft the outreach', [0, 0], {
        prompt: 'Write two friendly sentences to the owner, about: {summary}',
        mock: { output: 'Congratulations! We saw: {summary}', cost_usd: 0.0015 },
      }),
      node('tool', 'announce', 'Announce the draft', [1, 0], {
        tool_name: 'send_event',
        params: {
          name: 'outreach.drafted',
          data: { permit: '{intelligence_event_id}', text: '{draft}' },
        },
      }),
      node('wait', 'reply', 'Wait for a reply', [2, 0], {
        event: {
          name: 'outreach.replied',
          match: 'event.data.permit == intelligence_event_id',
        },
        timeout_seconds: THREE_DAYS_SECONDS,
        on_timeout: 'continue',
      }),
      node('agent', 'answer', 'Read the reply', [3, 0], {
        prompt: 'Summarize this reply in one sentence: {reply.data.text}',
        output_key: 'outcome',
        mock: { output: 'They replied: {reply.data.text}', cost_usd: 0.0009 },
      }),
      node('human_gate', 'ask', 'Send a reminder?', [3, 1], {
        prompt: 'No reply in three days to:\n\n{draft}\n\nSend a reminder?',
      }),
      node('agent', 'remind', 'Write the reminder', [4, 1], {
        prompt: 'Write a short reminder of: {draft}',
        output_key: 'outcome',
        mock: { output: 'Just a reminder. {draft}', cost_usd: 0.0007 },
      }),
      node('agent', 'close', 'Close it', [4, 2], {
        prompt: 'Say in one sentence that no reply came to: {draft}',
        output_key: 'outcome',
        mock: { output: 'Closed without a reply.', cost_usd: 0.0003 },
      }),
      node('agent', 'report', 'Report', [5, 0], {
        prompt: 'Report in one sentence. {summary} {outcome}',
        mock: { output: '{summary} {outcome}', cost_usd: 0.0008 },
      }),
    ],
    edges: [
      { source: 'draft', target: 'announce' },
      { source: 'announce', target: 'reply' },
      { source: 'reply', target: 'answer', condition_value: 'true' },
      { source: 'reply', target: 'ask', condition_value: 'false' },
      { source: 'ask', target: 'remind', condition_value: 'true' },
      { source: 'ask', target: 'close', condition_value: 'false' },
      { source: 'answer', target: 'report' },
      { source: 'remind', target: 'report' },
      { source: 'close', target: 'report' },
    ],
  },
  checks: [
    { name: 'is about the permit', type: 'expression', value: 'summary in report' },
    { name: 'has an outcome', type: 'expression', value: 'outcome in report' },
    { name: 'costs less than a cent', type: 'max_cost_usd', value: 0.01 },
  ],
  limits: { concurrency: { limit: 5 } },
  sampleInput: { intelligence_event_id: 'permit-1', summary: 'A permit was approved.' },
  sampleEvent: {
    name: 'outreach.replied',
    data: { permit: 'permit-1', text: 'Please call us on Monday.' },
  },
};
