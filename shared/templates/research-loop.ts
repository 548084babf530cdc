import { type BuiltInTemplate, node } from './template.ts';

/**
 *                      ┌──── true ── search ── take_note ── measure ──┐
 *   plan ── notes ── deepen ◄─────────────────────────────────────────┘
 *                      └──── report
 */
export const researchLoop: BuiltInTemplate = {
  id: 'tpl_research-loop',
  name: 'Research loop',
  description:
    'Researches a topic in iterations until enough of it is covered, at most five times, then writes a report. ' +
    'Input: topic (text). Shows: a loop whose body uses earlier iterations, and steps kept apart by iteration.',
  graph: {
    nodes: [
      node('agent', 'plan', 'Plan the research', [0, 1], {
        prompt: 'Name the three questions that matter most about: {topic}',
        mock: {
          output: ['What is {topic}?', 'What does it cost?', 'What speaks against it?'],
          cost_usd: 0.0021,
        },
      }),
      node('tool', 'start_notes', 'Open the notebook', [1, 1], {
        tool_name: 'json_transform',
        params: { expression: "'Notes on ' + topic" },
        output_key: 'notes',
      }),
      node('loop', 'deepen', 'Until enough is covered', [2, 1], {
        // Before the first iteration, nothing has set `coverage`, and a comparison with null is false.
        expression: 'default(coverage, 0) < 0.8',
        max_iterations: 5,
      }),
      node('agent', 'search', 'Search what is missing', [2, 0], {
        system_prompt: 'You research one round at a time. Report one new finding with its source.',
        prompt: 'Round {deepen.iterations} on {topic}.\nQuestions: {plan}\nKnown so far:\n{notes}',
        output_key: 'finding',
        retry: { max_attempts: 3, initial_interval_seconds: 2 },
        mock: {
          output: 'Finding {deepen.iterations} on {topic} (source {deepen.iterations})',
          cost_usd: 0.0045,
        },
      }),
      node('tool', 'take_note', 'Write it down', [3, 0], {
        tool_name: 'json_transform',
        params: { expression: "notes + '\n- ' + finding" },
        output_key: 'notes',
      }),
      node('tool', 'measure', 'Measure the coverage', [4, 0], {
        tool_name: 'json_transform',
        params: { expression: 'min(1, round(deepen.iterations * 0.3, 1))' },
        output_key: 'coverage',
      }),
      node('agent', 'report', 'Write the report', [3, 2], {
        prompt: 'Write a report on {topic} from these notes. Keep the sources.\n{notes}',
        mock: {
          output: 'Report on {topic} after {deepen.iterations} rounds.\n\n{notes}',
          cost_usd: 0.0067,
        },
      }),
    ],
    edges: [
      { source: 'plan', target: 'start_notes' },
      { source: 'start_notes', target: 'deepen' },
      { source: 'deepen', target: 'search', condition_value: 'true' },
      { source: 'search', target: 'take_note' },
      { source: 'take_note', target: 'measure' },
      { source: 'measure', target: 'deepen' },
      { source: 'deepen', target: 'report' },
    ],
  },
  checks: [
    {
      name: 'covers the topic',
      type: 'expression',
      value: 'coverage >= 0.8 and not deepen.exhausted',
    },
    { name: 'names sources', type: 'regex', target: 'report', value: 'source \\d+' },
    { name: 'keeps to the topic', type: 'contains', target: 'report', value: 'heat pumps' },
    { name: 'takes less than a minute', type: 'max_duration_ms', value: 60_000 },
  ],
  sampleInput: { topic: 'heat pumps in old houses' },
};
