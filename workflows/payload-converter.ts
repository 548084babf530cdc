import {
  BinaryPayloadConverter,
  CompositePayloadConverter,
  type ConverterHint,
  encodingKeys,
  JsonPayloadConverter,
  METADATA_ENCODING_KEY,
  type Payload,
  type SerializationContext,
  UndefinedPayloadConverter,
  ValueError,
} from '@temporalio/common';
import { UNSTORED } from '../shared/execution.ts';

/**
 * Replaces a payload that cannot be decoded. It has none of the required fields of inputs and signals, so they are
 * refused as malformed. It cannot be encoded, so it never becomes a result.
 */
class Undecodable {
  readonly #cause: unknown;

  constructor(cause: unknown) {
    this.#cause = cause;
  }

  toJSON(): never {
    throw new ValueError('A payload that could not be decoded was used', this.#cause);
  }
}

/** The argument of a local activity stays in this process, however large: it is not part of the history. */
const present = new Uint8Array();

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The same payloads as those of the default converter, which reads and writes UTF-8 in JavaScript: ten times as long. */
class NativeJsonConverter extends JsonPayloadConverter {
  override toPayload(value: unknown, context?: SerializationContext): Payload | undefined {
    // Undefined for what JSON cannot express, which the types of `stringify` leave out.
    const json = JSON.stringify(value) as string | undefined;
    if (json === undefined) return undefined;
    const isLocal = context?.type === 'activity' && context.isLocal;
    return {
      metadata: {
        [METADATA_ENCODING_KEY]: encodingKeys.METADATA_ENCODING_JSON,
        ...(isLocal ? { [UNSTORED]: present } : {}),
      },
      data: encoder.encode(json),
    };
  }

  override fromPayload<T>({ data }: Payload): T {
    if (data == null) throw new ValueError('Got payload with no data');
    return JSON.parse(decoder.decode(data)) as T;
  }
}

/**
 * The default converter, except for payloads that it cannot decode. Anyone with access to Temporal can send a run a
 * signal in another encoding. The SDK decodes it before any handler; an error there would fail the workflow task again
 * and again, and block the run.
 */
class TolerantPayloadConverter extends CompositePayloadConverter {
  constructor() {
    super(new UndefinedPayloadConverter(), new BinaryPayloadConverter(), new NativeJsonConverter());
  }

  override fromPayload<T>(
    payload: Payload,
    context?: SerializationContext,
    hint?: ConverterHint<T>,
  ): T {
    try {
      return super.fromPayload(payload, context, hint);
    } catch (error) {
      return new Undecodable(error) as T;
    }
  }
}

/** The bundler looks for this name. */
export const payloadConverter = new TolerantPayloadConverter();
