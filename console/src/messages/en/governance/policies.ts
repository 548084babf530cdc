import type { Policies } from '#client/index.ts';

/** Messages for the page of policies. */
export const policies = {
  title: 'Policies',
  about:
    'Which models and tools workflows can use, and which data is redacted before it leaves the service. Changes apply from the next step, including in active runs.',
  missing: 'You need the manage_workspace permission to change policies.',
  testExpression: 'Test an expression',
} as const;

/** Messages for the form of all policies. */
export const policiesForm = {
  models: 'Models',
  tools: 'Tools',
  limits: 'Limits of calls',
  redaction: 'Redaction',
  saved: 'Policies saved',
  unsaved: 'Unsaved changes',
  unsavedAbout: 'You have unsaved changes.',
  discard: 'Discard changes',
  save: 'Save policies',
  leave: 'Leave without saving the policies?',
} as const;

/** Messages for the policies for members who cannot change them. */
export const policiesSummary = {
  models: 'Models',
  allModels: 'Agents can use all models.',
  noModel: 'No model is allowed.',
  listedModels: 'Agents can only use these models:',
  tools: 'Tools',
  allTools: 'Every workflow can use every tool.',
  onlyIn: '{tool} only in {workflows}',
  onlyInNone: '{tool} only in no workflow',
  blockedValues: 'Blocked: {argument} is one of {values}',
  blockedPattern: 'Blocked: {argument} matches {pattern}',
  limits: 'Limits of calls',
  noLimit: 'Calls of tools and models are not limited.',
  limit: '{names}: {numbers}',
  limitByKey: '{names}: {numbers}, for each {key}',
  atOnce: (count: number) => `${count} at a time`,
  perMinute: (count: number) => `${count} per minute`,
  redaction: 'Redaction',
  noRedaction: 'No data is redacted.',
} as const;

/** Messages for the rules for models. */
export const modelRules = {
  label: 'Models that agents can use',
  all: 'All models',
  listed: 'Only listed models',
  listedAbout:
    'A step that uses another model fails immediately. Fallback models that are not listed are skipped.',
  allowed: 'Allowed models',
  allowedAbout: 'Use provider/model. Press Enter after each.',
  removeAll: 'Remove all models',
  none: 'Add at least one model, or no agent can run.',
} as const;

/** Messages for the rules for tools. */
export const toolRules = {
  empty: {
    title: 'No tool rules yet',
    about:
      'Every workflow can use every tool. Add a tool to limit the workflows that can use it or the arguments it accepts.',
  },
  add: 'Add tool',
  rulesFor: (tool: string) => `Rules for ${tool}`,
  rulesForUnnamed: 'Rules for this tool',
  removeRulesFor: (tool: string) => `Remove rules for ${tool}`,
  removeRulesForUnnamed: 'Remove rules for this tool',
  taken: 'This tool already has rules',
  blockArgument: 'Block argument',
  limit: 'Limit to selected workflows',
  allowedWorkflows: 'Allowed workflows',
  noWorkflow: 'With no workflow selected, no workflow can use it.',
} as const;

/** Messages for the limits of calls. */
export const callLimits = {
  empty: {
    title: 'No limits yet',
    about:
      'Add a limit so that only some calls of a tool or model are in flight, or begin per minute. Steps beyond it wait for a free call.',
  },
  add: 'Add limit',
  limit: (nth: number) => `Limit ${nth}`,
  remove: (nth: number) => `Remove limit ${nth}`,
  of: 'What it limits',
  tools: 'Tools',
  models: 'Models',
  limitedTools: 'Limited tools',
  limitedModels: 'Limited models',
  toolsAbout:
    'A * at the end covers all tools that begin so, like custom:crm_*. They share the limit.',
  modelsAbout:
    'A * at the end covers all models that begin so, like openai/*. They share the limit.',
  none: 'Add at least one name.',
  concurrency: 'Calls at the same time',
  perMinute: 'Calls per minute',
  unlimited: 'Enter at least one of the two numbers.',
  key: 'For each value of',
  keyAbout: 'Optional. A template like {args.body.customer}: each value has calls of its own.',
} as const;

/** Messages for a rule that blocks values of one argument. */
export const argumentRule = {
  block: (argument: string) => `Block ${argument}`,
  blockUnnamed: 'Block this argument',
  argument: 'Blocked argument',
  argumentAbout: 'Path to the parameter, like body.country',
  condition: 'Condition',
  isOneOf: 'is one of',
  matches: 'matches a pattern',
  removeRule: (argument: string) => `Remove rule for ${argument}`,
  removeRuleUnnamed: 'Remove rule for this argument',
  values: 'Values',
  valuesAbout:
    'One per line. Numbers, true, false, null, lists and objects are read as JSON. Put quotes around them to match text.',
  pattern: 'Pattern',
  patternAbout: 'RE2. Matches anywhere in the value. Start with (?i) to ignore case.',
} as const;

/** Messages for the rules for redaction. */
export const redactionRules = {
  about:
    'Matches in prompts and parameters are replaced with [REDACTED:name] before they leave the service. Overlapping matches: the longest one wins.',
  detectors: 'Detectors',
  addPattern: 'Add pattern',
  pattern: (name: string) => `Pattern ${name}`,
  patternUnnamed: 'New pattern',
  regex: 'RE2 pattern',
  removePattern: (name: string) => `Remove ${name}`,
  removePatternUnnamed: 'Remove this pattern',
} as const;

/** What each detector redacts. */
export const detectorTexts = {
  email: {
    label: 'Email addresses',
    finds: 'Addresses with a top-level domain, including %40 instead of @.',
  },
  phone: {
    label: 'Phone numbers',
    finds:
      'International, North American and grouped national numbers, and digits labeled as a phone number.',
  },
  credit_card: {
    label: 'Payment cards',
    finds: 'Matched by issuer, length, grouping and check digit.',
  },
  ssn: {
    label: 'US social security numbers',
    finds: 'Grouped numbers, or nine digits labeled as an SSN, with an assigned area number.',
  },
  iban: { label: 'Bank accounts (IBAN)', finds: 'Matched by country, length and check digits.' },
  ip: { label: 'IP addresses', finds: 'IPv4 and IPv6. Version numbers are ignored.' },
  api_key: {
    label: 'Keys and secrets',
    finds:
      'Keys with known prefixes, web tokens, private keys, and values after words like password, api_key or token with “:”, “=” or “is”. It cannot know a secret that stands alone.',
  },
} as const satisfies Record<
  Policies['redaction']['detectors'][number],
  { label: string; finds: string }
>;

/** Messages for the test of redaction. */
export const redactionTester = {
  title: 'Test redaction',
  about:
    'Uses the rules above, including unsaved changes. This runs in your browser and sends no data.',
  sample: 'Sample text',
  samplePlaceholder: 'Paste a prompt or an email',
} as const;

/** Messages for the redacted text. */
export const redactionOutcome = {
  failed: 'Redaction failed',
  redacted: 'Redacted text',
  nothingFound: 'Nothing found',
  found: (name: string, count: string) => `${name}: ${count}`,
} as const;
