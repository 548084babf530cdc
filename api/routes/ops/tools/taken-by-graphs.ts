/** Changing a tool requires the same permission as changing the graphs that use it. */
export const takenByGraphs = (act: string): string =>
  `${act} also requires \`publish_workflows\` where a published workflow calls the tool, and \`run_workflows\` where ` +
  'one does that has a webhook or an enabled schedule.';
