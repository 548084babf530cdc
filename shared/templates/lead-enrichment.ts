import { type BuiltInTemplate, node } from './template.ts';

/**
 *                  true ┌─ given ───────────┐
 *   has_profile ────────┤                   ├── score ── is_promising ─┬ true ── outreach ─┐
 *                 false └─ look_up ── found ┘                          └ false ─ archive ──┴── note ── has_feed ─┬ true ── keep
 *                                                                                                         └ false ─ leave
 */
export const leadEnrichment: BuiltInTemplate = {
  id: 'tpl_lead-enrichment',
  name: 'Lead enrichment',
  description:
    'Looks a company up in a directory over HTTP, lets an agent score it, and drafts a first message for the ' +
    'promising ones. Input: company, domain (texts), profile (object, optional: known data; with it ' +
    'nothing is looked up), feed_id (text, optional: the feed of the data API that keeps the lead, by its domain). Put the address of your directory into "Look the company up". Shows: an HTTP tool with ' +
    'retries, an answer with a schema, a condition over it, a record ' +
    'for the data API.',
  graph: {
    nodes: [
      node('condition', 'has_profile', 'Known already?', [0, 1], {
        expression: 'profile != null',
      }),
      node('tool', 'given', 'Take what is known', [1, 0], {
        tool_name: 'json_transform',
        params: { expression: 'profile' },
        output_key: 'facts',
      }),
      node('tool', 'look_up', 'Look the company up', [1, 2], {
        tool_name: 'http_request',
        params: {
          method: 'GET',
          url: 'https://directory.example.com/companies',
          query: { domain: '{domain}' },
        },
        retry: { max_attempts: 3, initial_interval_seconds: 2 },
        timeout_seconds: 20,
      }),
      node('tool', 'found', 'Take what was found', [2, 2], {
        tool_name: 'json_transform',
        params: { expression: 'look_up.body' },
        output_key: 'facts',
      }),
      node('agent', 'score', 'Score the lead', [3, 1], {
        system_prompt: 'You score companies for a sales team. Answer with JSON only.',
        prompt: 'Company: {company}\nFacts: {facts}',
        temperature: 0,
        response_schema: {
          type: 'object',
          properties: {
            points: { type: 'number', minimum: 0, maximum: 100 },
            reason: { type: 'string' },
          },
          required: ['points', 'reason'],
        },
        retry: { max_attempts: 3 },
        mock: {
          output: { points: 82, reason: '{company} grows and has nothing of the kind yet.' },
          cost_usd: 0.0019,
        },
      }),
      node('condition', 'is_promising', 'At least 60 points?', [4, 1], {
        expression: 'score.points >= 60',
      }),
      node('agent', 'outreach', 'Draft a message', [5, 0], {
        prompt: 'Write a short first message to {company}. Why them: {score.reason}',
        output_key: 'message',
        mock: {
          output: 'Hello {company}, may we show you in ten minutes what we do?',
          cost_usd: 0.0027,
        },
      }),
      node('tool', 'archive', 'Set aside', [5, 2], {
        tool_name: 'json_transform',
        params: { expression: "'No message: ' + score.reason" },
        output_key: 'message',
      }),
      node('agent', 'note', 'Note it for the team', [6, 1], {
        prompt: 'One line for the team: {company}, {score.points} points. {message}',
        mock: { output: '{company}: {score.points} points. {message}', cost_usd: 0.0006 },
      }),
      node('condition', 'has_feed', 'Is there a feed for it?', [7, 1], {
        expression: 'feed_id != null',
      }),
      node('tool', 'keep', 'Keep the lead in the feed', [8, 0], {
        tool_name: 'entity_upsert',
        params: {
          feed_id: '{feed_id}',
          external_key: '{domain}',
          entity_type: 'company',
          canonical_name: '{company}',
          attributes: {
            domain: '{domain}',
            facts: '{facts}',
            points: '{score.points}',
            reason: '{score.reason}',
            message: '{message}',
          },
        },
      }),
      node('tool', 'leave', 'Leave it at the note', [8, 2], {
        tool_name: 'json_transform',
        params: { expression: 'note' },
      }),
    ],
    edges: [
      { source: 'has_profile', target: 'given', condition_value: 'true' },
      { source: 'has_profile', target: 'look_up', condition_value: 'false' },
      { source: 'look_up', target: 'found' },
      { source: 'given', target: 'score' },
      { source: 'found', target: 'score' },
      { source: 'score', target: 'is_promising' },
      { source: 'is_promising', target: 'outreach', condition_value: 'true' },
      { source: 'is_promising', target: 'archive', condition_value: 'false' },
      { source: 'outreach', target: 'note' },
      { source: 'archive', target: 'note' },
      { source: 'note', target: 'has_feed' },
      { source: 'has_feed', target: 'keep', condition_value: 'true' },
      { source: 'has_feed', target: 'leave', condition_value: 'false' },
    ],
  },
  checks: [
    {
      name: 'the score is in range',
      type: 'expression',
      value: 'score.points >= 0 and score.points <= 100',
    },
    { name: 'notes the points', type: 'regex', target: 'note', value: '\\d+ points' },
    { name: 'costs less than two cents', type: 'max_cost_usd', value: 0.02 },
  ],
  sampleInput: {
    company: 'Harbour Bikes',
    domain: 'harbourbikes.example',
    profile: { employees: 48, country: 'DK', industry: 'retail', founded: 2017 },
  },
};
