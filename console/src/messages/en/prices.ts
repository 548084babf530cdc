/** Messages for the prices of models. */
export const prices = {
  title: 'Model prices',
  add: 'Add price',
  editTitle: 'Edit price',
  none: 'No custom prices. Built-in prices apply.',
  own: 'Workspace prices',
  builtIn: 'Built-in prices',
  showBuiltIn: 'Show built-in prices',
  hideBuiltIn: 'Hide built-in prices',
  aboutBuiltIn: (date: string) => `List prices as of ${date}. Custom prices override them.`,
  input: 'Input, per million',
  output: 'Output, per million',
  cached: 'Cached input, per million',
  actions: 'Actions',
  editPrice: (model: string) => `Edit price of ${model}`,
  removePrice: (model: string) => `Remove price of ${model}`,
  removed: 'Price removed',
  confirmRemove: {
    title: 'Remove this price?',
    consequence:
      'Steps of {model} will use the built-in price, or have an unknown cost if there is none. Recorded costs do not change.',
    confirm: 'Remove price',
  },
} as const;

/** Messages for the form of a price. */
export const priceForm = {
  saved: 'Price saved. It applies to steps from now on',
  save: 'Save price',
  aboutModel: 'Use the same name as in workflows: provider/model',
  taken: 'This model already has a price',
  input: 'Input price (USD per million tokens)',
  output: 'Output price (USD per million tokens)',
  cached: 'Cached input price (USD per million tokens)',
  aboutCached: 'Of input that the provider reads from its cache. Leave empty for the input price.',
  about: 'Recorded costs do not change.',
} as const;
