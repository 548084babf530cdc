import { at, type BuiltInTemplate } from './template.ts';

/**
 *                  true ┌─ given ──────────────┐               true ┌─ alert ── wants_message ── true ── send ─┐
 *   has_reading ────────┤                      ├── is_degraded ─────┤                └── false ────────────────┤
 *                 false └─ probe ── read ──────┘              false └─ all_well ───────────────────────────────┴── log
 */
export const serviceMonitoring: BuiltInTemplate = {
  id: 'tpl_service-monitoring',
  name: 'Service monitoring',
  description:
    'Checks a service and raises an alert when it is down or slow; made for a schedule, say every five ' +
    'minutes. Input: service (text), limit_ms (number, 1000 by default), notify (true sends the alert to the chat), ' +
    'reading (object with status and latency_ms, optional: with it the service is not called). Put the address of ' +
    'your status page into "Ask the service". Shows: an HTTP tool with a timeout, nested conditions, an alert that ' +
    'is written by an agent.',
  graph: {
    nodes: [
      {
        id: 'has_reading',
        kind: 'condition',
        label: 'Measured already?',
        ...at(0, 1),
        expression: 'reading != null',
      },
      {
        id: 'given',
        kind: 'tool',
        label: 'Take the measurement',
        ...at(1, 0),
        tool_name: 'json_transform',
        params: { expression: 'reading' },
        output_key: 'health',
      },
      {
        id: 'probe',
        kind: 'tool',
        label: 'Ask the service',
        ...at(1, 2),
        tool_name: 'http_request',
        params: { method: 'GET', url: 'https://status.example.com/services/{service}' },
        retry: { max_attempts: 2, initial_interval_seconds: 5 },
        timeout_seconds: 10,
      },
      {
        id: 'read',
        kind: 'tool',
        label: 'Read the answer',
        ...at(2, 2),
        tool_name: 'json_transform',
        params: { expression: 'probe.body' },
        output_key: 'health',
      },
      {
        id: 'is_degraded',
        kind: 'condition',
        label: 'Down or slow?',
        ...at(3, 1),
        expression: "health.status != 'ok' or health.latency_ms > default(limit_ms, 1000)",
      },
      {
        id: 'alert',
        kind: 'agent',
        label: 'Write the alert',
        ...at(4, 0),
        system_prompt:
          'You write alerts for people who have just been woken up: one line, facts only.',
        prompt: 'Service {service}: {health}',
        output_key: 'report',
        mock: {
          output: 'ALERT {service}: {health.status}, {health.latency_ms} ms',
          cost_usd: 0.0008,
        },
      },
      {
        id: 'wants_message',
        kind: 'condition',
        label: 'Send it to the chat?',
        ...at(5, 0),
        expression: 'default(notify, false)',
      },
      {
        id: 'send',
        kind: 'tool',
        label: 'Send it',
        ...at(6, 0),
        tool_name: 'send_chat_message',
        params: { text: '{report}' },
        retry: { max_attempts: 5, initial_interval_seconds: 2 },
      },
      {
        id: 'all_well',
        kind: 'tool',
        label: 'All is well',
        ...at(4, 2),
        tool_name: 'json_transform',
        params: { expression: "'OK ' + service" },
        output_key: 'report',
      },
      {
        id: 'log',
        kind: 'tool',
        label: 'Log the outcome',
        ...at(7, 1),
        tool_name: 'json_transform',
        params: { expression: 'report' },
      },
    ],
    edges: [
      { source: 'has_reading', target: 'given', condition_value: 'true' },
      { source: 'has_reading', target: 'probe', condition_value: 'false' },
      { source: 'probe', target: 'read' },
      { source: 'given', target: 'is_degraded' },
      { source: 'read', target: 'is_degraded' },
      { source: 'is_degraded', target: 'alert', condition_value: 'true' },
      { source: 'is_degraded', target: 'all_well', condition_value: 'false' },
      { source: 'alert', target: 'wants_message' },
      { source: 'wants_message', target: 'send', condition_value: 'true' },
      { source: 'wants_message', target: 'log', condition_value: 'false' },
      { source: 'send', target: 'log' },
      { source: 'all_well', target: 'log' },
    ],
  },
  checks: [
    { name: 'names the service', type: 'expression', value: 'service in log' },
    {
      name: 'alerts exactly when it should',
      type: 'expression',
      value: "starts_with(log, 'ALERT') == is_degraded.result",
    },
    { name: 'takes less than half a minute', type: 'max_duration_ms', value: 30_000 },
  ],
  sampleInput: {
    service: 'checkout',
    limit_ms: 800,
    reading: { status: 'ok', latency_ms: 2_350 },
  },
};
