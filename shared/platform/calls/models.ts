import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { wrapLanguageModel } from 'ai';
import { NodeError } from '#shared/node-error.ts';
import { sizeProblem, withDigits } from '#shared/outside-json.ts';
import { createBoundedCache } from '#shared/values/bounded-cache.ts';
import type { Config } from '#shared/platform/config.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import { exactFetch } from './exact-fetch.ts';
import { requireNoError } from './model-error.ts';
import { askStream, wholeAnswers } from './whole-answers.ts';
import { createSecretCutter, type SecretCutter } from '#shared/platform/secrets/secret-cutter.ts';

export type ModelSettings = Config['models'];

type Model = Parameters<typeof wrapLanguageModel>[0]['model'];

/** A model that can be called, or why it cannot. */
export type ModelLookup = { model: Model } | { problem: string };

type Provider = 'openai' | 'anthropic' | 'google' | 'compatible';

/** The number of cached models. The SDK builds schemas for each, which takes longer than preparing a request. */
const MAX_MODELS = 100;

/**
 * Finds models by `provider/model`. The SDKs would fall back to their own environment variables for keys and addresses,
 * so both are always set. An error of a lookup never contains a key.
 */
export function createModels(
  settings: ModelSettings,
  egress: Egress,
): (name: string) => ModelLookup {
  const fetch = exactFetch(wholeAnswers(egress.fetch), {
    concerns: isInArguments,
    check: requireNoError,
  });
  const providers = providersOf(settings, fetch);
  const found = createBoundedCache<string, ModelLookup>(MAX_MODELS);
  return (name) => found(name, () => find(name));

  function find(name: string): ModelLookup {
    const slash = name.indexOf('/');
    const provider = name.slice(0, Math.max(slash, 0));
    const model = name.slice(slash + 1);
    if (!Object.hasOwn(providers, provider) || model === '') {
      const known = Object.keys(providers).join(', ');
      return {
        problem: `Unknown model '${name}': write provider/model with one of ${known}, or mock`,
      };
    }
    const lookup = providers[provider as Provider](model);
    return 'problem' in lookup ? lookup : { model: withExactCalls(lookup.model) };
  }
}

function providersOf(
  settings: ModelSettings,
  fetch: Egress['fetch'],
): Record<Provider, (model: string) => ModelLookup> {
  return {
    openai: (model) => {
      const { apiKey, baseUrl } = settings.openai;
      if (apiKey === undefined) return missing('openai');
      // Chat completions instead of the newer responses API, because gateways and self-hosted servers also support
      // them.
      const openai = createOpenAI({
        apiKey,
        baseURL: baseUrl ?? 'https://api.openai.com/v1',
        fetch,
      });
      return { model: openai.chat(model) };
    },
    anthropic: (model) => {
      const { apiKey, baseUrl } = settings.anthropic;
      if (apiKey === undefined) return missing('anthropic');
      const anthropic = createAnthropic({
        apiKey,
        baseURL: baseUrl ?? 'https://api.anthropic.com/v1',
        fetch,
      });
      return { model: anthropic(model) };
    },
    google: (model) => {
      const { apiKey, baseUrl } = settings.google;
      if (apiKey === undefined) return missing('google');
      // The name becomes part of the path, so it could call another method with this key.
      if (!/^[\w.-]+$/.test(model)) return { problem: `Not a name of a Google model: '${model}'` };
      const google = createGoogle({
        apiKey,
        baseURL: baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta',
        fetch,
      });
      return { model: google(model) };
    },
    compatible: (model) => {
      const { apiKey, baseUrl } = settings.compatible;
      if (baseUrl === undefined) return missing('compatible');
      const compatible = createOpenAICompatible({
        name: 'compatible',
        baseURL: baseUrl,
        // Self-hosted servers often need no key.
        apiKey,
        // Without this, the schema would never reach the server. A server that cannot use it returns a 400.
        supportsStructuredOutputs: true,
        // Without this, a stream reports no tokens, so its cost would be unknown.
        includeUsage: true,
        fetch,
      });
      return { model: compatible(model) };
    },
  };
}

/**
 * The members of a response that contain the arguments of a call, for providers that do not send them as text:
 * Anthropic and Google.
 */
const isInArguments = (path: readonly string[]): boolean =>
  path.some((key) => key === 'input' || key === 'args');

/** A model that keeps the digits of numbers in the arguments of its calls, which the SDK would round. */
const withExactCalls = (model: Model): Model =>
  wrapLanguageModel({
    model,
    middleware: {
      wrapGenerate: async ({ doGenerate }) => {
        const result = await doGenerate();
        return { ...result, content: result.content.map(exactCall) };
      },
      wrapStream: async (call) => {
        const { stream, ...rest } = await askStream(call);
        const exact = new TransformStream<StreamPart, StreamPart>({
          transform: (part, controller) => controller.enqueue(exactCall(part)),
        });
        return { ...rest, stream: stream.pipeThrough(exact) };
      },
    },
  });

type Middleware = Exclude<Parameters<typeof wrapLanguageModel>[0]['middleware'], unknown[]>;
type Streamed = Awaited<ReturnType<NonNullable<Middleware['wrapStream']>>>;
type StreamPart = Streamed['stream'] extends ReadableStream<infer Part> ? Part : never;

function exactCall<Part extends { type: string }>(part: Part): Part {
  if (part.type !== 'tool-call' || !('input' in part) || typeof part.input !== 'string') {
    return part;
  }
  const problem = sizeProblem(part.input);
  if (problem === undefined) return { ...part, input: withDigits(part.input) };
  throw new NodeError(`The arguments of a call are too large: ${problem}`, { retryable: false });
}

const missing = (provider: Provider) => ({
  problem: `${needed[provider].variable} is not set, so ${provider}/ models cannot be used`,
});

/** The variable that each provider requires. */
const needed = {
  openai: { variable: 'OPENAI_API_KEY', setting: 'apiKey' },
  anthropic: { variable: 'ANTHROPIC_API_KEY', setting: 'apiKey' },
  google: { variable: 'GOOGLE_API_KEY', setting: 'apiKey' },
  compatible: { variable: 'COMPATIBLE_BASE_URL', setting: 'baseUrl' },
} as const satisfies Record<Provider, { variable: string; setting: 'apiKey' | 'baseUrl' }>;

/** For each provider whose models cannot be called with these settings: the reason. */
export const unavailableProviders = (settings: ModelSettings): Record<string, string> =>
  Object.fromEntries(
    (Object.keys(needed) as Provider[])
      .filter((provider) => settings[provider][needed[provider].setting] === undefined)
      .map((provider) => [provider, missing(provider).problem]),
  );

/** Self-hosted servers often use a plain word as their key, which may also occur in ordinary responses. */
const MIN_KEY_IN_ANSWER = 16;

/** Redacts the configured keys in a provider's text: `text` for failures, `json` for responses. */
export function createKeyCutter(settings: ModelSettings): SecretCutter {
  const keys = Object.values(settings).flatMap(({ apiKey }) => apiKey ?? []);
  const inFailures = createSecretCutter(keys);
  const inAnswers = createSecretCutter(keys.filter((key) => key.length >= MIN_KEY_IN_ANSWER));
  return {
    // Providers return a wrong key with asterisks in the middle.
    text: (said) => inFailures.text(said).replace(/\bsk-[\w*-]{4,}/g, '***'),
    json: inAnswers.json,
  };
}
