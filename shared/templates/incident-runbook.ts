import { type BuiltInTemplate, node } from './template.ts';

/**
 *                                    ┌── logs ─────┐                            true ┌─ mitigate ── settle ─┐
 *                           true ────┤             ├── findings ── plan ── go_ahead ─┤                      │
 *   triage ── is_severe ─────────────┴── changes ──┘                           false └─ escalate ───────────┤
 *                       └── false ── ticket ────────────────────────────────────────────────────────────────┴── report
 */
export const incidentRunbook: BuiltInTemplate = {
  id: 'tpl_incident-runbook',
  name: 'Incident runbook',
  description:
    'Works through an incident: rates it, gathers findings from two sides at once, proposes a way out and waits ' +
    'for the person on call to agree; small ones become a ticket. Input: service, symptom (texts), error_rate ' +
    '(number from 0 to 1). Replace the gathering agents with tools that query your own systems. Shows: parallel branches ' +
    'within a branch, a gate before an action, a delay that costs nothing.',
  graph: {
    nodes: [
      node('agent', 'triage', 'Rate the incident', [0, 1], {
        prompt: 'Service {service}: {symptom}. Error rate {error_rate}. Rate it.',
        temperature: 0,
        response_schema: {
          type: 'object',
          properties: {
            severity: { type: 'string', enum: ['low', 'high'] },
            reason: { type: 'string' },
          },
          required: ['severity', 'reason'],
        },
        retry: { max_attempts: 3 },
        mock: {
          output: { severity: 'high', reason: 'Customers of {service} see errors.' },
          cost_usd: 0.0012,
        },
      }),
      node('condition', 'is_severe', 'Severe?', [1, 1], {
        expression: "triage.severity == 'high' or error_rate >= 0.05",
      }),
      node('agent', 'logs', 'Look through the logs', [2, 0], {
        prompt: 'What do the logs of {service} say about: {symptom}?',
        mock: { output: 'Connections to the database time out.', cost_usd: 0.0021, delay_ms: 60 },
      }),
      node('agent', 'changes', 'Look at recent changes', [2, 1], {
        prompt: 'What was changed in {service} in the last day?',
        mock: { output: 'Release 41 went out an hour ago.', cost_usd: 0.0018, delay_ms: 60 },
      }),
      node('merge', 'findings', 'Collect the findings', [3, 0]),
      node('agent', 'plan', 'Propose a way out', [4, 0], {
        prompt: 'Propose one reversible step. Logs: {findings.logs} Changes: {findings.changes}',
        mock: { output: 'Roll {service} back to release 40.', cost_usd: 0.0034 },
      }),
      node('human_gate', 'go_ahead', 'Go ahead?', [5, 0], {
        prompt: '{service}: {symptom}\n\n{plan}\n\nGo ahead?',
      }),
      node('agent', 'mitigate', 'Carry it out', [6, 0], {
        prompt: 'Carry out: {plan}',
        output_key: 'outcome',
        retry: { max_attempts: 1 },
        mock: { output: 'Done: {plan}', cost_usd: 0.0009 },
      }),
      node('tool', 'settle', 'Let it settle', [7, 0], {
        tool_name: 'delay',
        params: { seconds: 1 },
      }),
      node('agent', 'escalate', 'Escalate', [6, 1], {
        prompt: 'Write to the second line. Nobody agreed to: {plan} Known: {findings}',
        output_key: 'outcome',
        mock: { output: 'Escalated to the second line.', cost_usd: 0.0011 },
      }),
      node('agent', 'ticket', 'Write a ticket', [4, 2], {
        prompt: 'Write a ticket for {service}: {symptom}. {triage.reason}',
        output_key: 'outcome',
        mock: { output: 'Ticket for {service}: {symptom}', cost_usd: 0.0008 },
      }),
      node('agent', 'report', 'Write the report', [8, 1], {
        prompt: 'Report for the team. {service}: {symptom}. {triage.reason} {outcome}',
        mock: { output: 'Incident in {service}: {symptom}. {outcome}', cost_usd: 0.0019 },
      }),
    ],
    edges: [
      { source: 'triage', target: 'is_severe' },
      { source: 'is_severe', target: 'logs', condition_value: 'true' },
      { source: 'is_severe', target: 'changes', condition_value: 'true' },
      { source: 'is_severe', target: 'ticket', condition_value: 'false' },
      { source: 'logs', target: 'findings' },
      { source: 'changes', target: 'findings' },
      { source: 'findings', target: 'plan' },
      { source: 'plan', target: 'go_ahead' },
      { source: 'go_ahead', target: 'mitigate', condition_value: 'true' },
      { source: 'go_ahead', target: 'escalate', condition_value: 'false' },
      { source: 'mitigate', target: 'settle' },
      { source: 'settle', target: 'report' },
      { source: 'escalate', target: 'report' },
      { source: 'ticket', target: 'report' },
    ],
  },
  checks: [
    { name: 'names the service', type: 'expression', value: 'service in report' },
    { name: 'says what was done', type: 'expression', value: 'outcome in report' },
    { name: 'costs less than five cents', type: 'max_cost_usd', value: 0.05 },
  ],
  sampleInput: { service: 'checkout', symptom: 'payments fail', error_rate: 0.12 },
};
