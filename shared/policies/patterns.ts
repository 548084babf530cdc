import type { Policies } from '#shared/contract/policies/policy.ts';
import { checkPattern, PatternError } from '#shared/values/pattern.ts';

/** An invalid RE2 pattern: its path in the policies, and the reason. */
export interface PolicyPatternProblem {
  path: string;
  message: string;
}

/**
 * The first invalid pattern of the policies. Compiles all patterns, which can take long for the largest policies.
 * `onPattern` is called with the path of each before it is compiled.
 */
export function policyPatternProblem(
  { tools, redaction }: Policies,
  onPattern: (path: string) => void = () => undefined,
): PolicyPatternProblem | undefined {
  const patterns = [
    ...tools.flatMap(({ blocked_arguments: rules = [] }, tool) =>
      rules.map(
        (rule, at) => [`tools.${tool}.blocked_arguments.${at}.pattern`, rule.pattern] as const,
      ),
    ),
    ...redaction.patterns.map(
      ({ regex }, at) => [`redaction.patterns.${at}.regex`, regex] as const,
    ),
  ];
  for (const [path, pattern] of patterns) {
    if (pattern === undefined) continue;
    onPattern(path);
    try {
      checkPattern(pattern);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const reason = error.message.replace(/^the pattern is not valid: /, '');
      return { path, message: `is not a valid RE2 pattern: ${reason}` };
    }
  }
  return undefined;
}
