import { type BuiltInTemplate, node } from './template.ts';

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
      node('condition', 'has_reading', 'Measured already?', [0, 1], {
        expression: 'reading != null',
      }),
      node('tool', 'given', 'Take the measurement', [1, 0], {
        tool_name: 'json_transform',
        params: { expression: 'reading' },
        output_key: 'health',
      }),
      node('tool', 'probe', 'Ask the service', [1, 2], {
        tool_name: 'http_request',
        params: { method: 'GET', url: 'https://status.example.com/services/{service}' },
        retry: { max_attempts: 2, initial_interval_seconds: 5 },
        timeout_seconds: 10,
      }),
      node('tool', 'read', 'Read the answer', [2, 2], {
        tool_name: 'json_transform',
        params: { expression: 'probe.body' },
        output_key: 'health',
      }),
      node('condition', 'is_degraded', 'Down or slow?', [3, 1], {
        expression: "health.status != 'ok' or health.latency_ms > default(limit_ms, 1000)",
      }),
      node('agent', 'alert', 'Write the alert', [4, 0], {
        system_prompt:
          'You write alerts for people who have just been woken up: one line, facts only.',
        prompt: 'Service {service}: {health}',
        output_key: 'report',
        mock: {
          output: 'ALERT {service}: {health.status}, {health.latency_ms} ms',
          cost_usd: 0.0008,
        },
      }),
      node('condition', 'wants_message', 'Send it to the chat?', [5, 0], {
        expression: 'default(notify, false)',
      }),
      node('tool', 'send', 'Send it', [6, 0], {
        tool_name: 'send_chat_message',
        params: { text: '{report}' },
        retry: { max_attempts: 5, initial_interval_seconds: 2 },
      }),
      node('tool', 'all_well', 'All is well', [4, 2], {
        tool_name: 'json_transform',
        params: { expression: "'OK ' + service" },
        output_key: 'report',
      }),
      node('tool', 'log', 'Log the outcome', [7, 1], {
        tool_name: 'json_transform',
        params: { expression: 'report' },
      }),
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
