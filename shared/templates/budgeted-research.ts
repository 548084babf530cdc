import { type BuiltInTemplate, node } from './template.ts';

/** research (an agent in at most three turns, and one for its answer) ── report */
export const budgetedResearch: BuiltInTemplate = {
  id: 'tpl_budgeted-research',
  name: 'Budgeted research',
  description:
    "Answers a question from the workspace's own records, within limits: three turns, a few calls of each tool, short " +
    'answers. When they are used up, the agent answers with what it has found. Input: question (text), place (text: a ' +
    'city, region or country). Set a cost cap for its runs in the settings of the workflow. Shows: an agent with ' +
    'limits, calls at the same time, the cost of each turn.',
  graph: {
    nodes: [
      node('agent', 'research', 'Research the question', [0, 0], {
        system_prompt:
          'You answer questions from records. You have three turns, so make several calls in one turn, and note the ' +
          'names of the records you rely on. Say what you could not find.',
        prompt: 'Question: {question}\nPlace: {place}',
        output_key: 'findings',
        max_output_tokens: 800,
        tools: [
          { name: 'feed_list', max_calls: 1 },
          { name: 'entity_search', max_calls: 4 },
          { name: 'json_transform', max_calls: 2 },
        ],
        tool_choice: 'required',
        max_turns: 3,
        on_max_turns: 'answer',
        mock: {
          turns: [
            {
              calls: [
                { tool: 'feed_list', arguments: { limit: 10 } },
                {
                  tool: 'entity_search',
                  arguments: { entity_type: 'project', geography: '{place}', limit: 5 },
                },
              ],
              cost_usd: 0.0021,
            },
            {
              calls: [
                {
                  tool: 'entity_search',
                  arguments: { entity_type: 'permit', geography: '{place}', limit: 5 },
                },
                {
                  tool: 'entity_search',
                  arguments: { entity_type: 'company', geography: '{place}', limit: 5 },
                },
              ],
              cost_usd: 0.0034,
            },
            // There is still no answer: the limit of three turns ends the search.
            {
              calls: [
                { tool: 'json_transform', arguments: { expression: 'round(100 * 5 / 15, 1)' } },
              ],
              cost_usd: 0.0042,
            },
            {
              output:
                'About “{question}”: I compared projects, permits and companies in {place}, five of each at most. ' +
                'The calls beside this answer show the records.',
              cost_usd: 0.0027,
            },
          ],
        },
      }),
      node('tool', 'report', 'Write the report', [1, 0], {
        tool_name: 'json_transform',
        params: { expression: "'Question: ' + question + '\n\n' + findings" },
      }),
    ],
    edges: [{ source: 'research', target: 'report' }],
  },
  checks: [
    { name: 'stays in the budget', type: 'max_cost_usd', value: 0.02 },
    { name: 'keeps to the place', type: 'expression', value: 'contains(report, place)' },
    { name: 'takes less than a minute', type: 'max_duration_ms', value: 60_000 },
  ],
  sampleInput: {
    question: 'Which construction projects are we missing?',
    place: 'Austin',
  },
};
