import {
  BinaryPayloadConverter,
  CompositePayloadConverter,
  type ConverterHint,
  type Payload,
  type SerializationContext,
  UndefinedPayloadConverter,
  ValueError,
} from '@temporalio/common';
import { UNSTORED } from '#shared/execution.ts';
import { NativeJsonConverter } from './native-payloads.ts';

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

const present = new Uint8Array();

/**
 * Marks the argument of a local activity: it stays in this process, regardless of its size, and is not stored in the
 * history. Its result is stored: the worker's main thread serializes it with the other converter.
 */
class ArgumentConverter extends NativeJsonConverter {
  override toPayload(value: unknown, context?: SerializationContext): Payload | undefined {
    const payload = super.toPayload(value);
    if (payload === undefined || context?.type !== 'activity' || !context.isLocal) return payload;
    return { ...payload, metadata: { ...payload.metadata, [UNSTORED]: present } };
  }
}

/**
 * Like the converter of all processes, but tolerates payloads that it cannot decode. Anyone with access to Temporal can
 * send a run a signal in another encoding. The SDK decodes it before any handler; an error there would fail the
 * workflow task again and again, and block the run.
 */
class TolerantPayloadConverter extends CompositePayloadConverter {
  constructor() {
    super(new UndefinedPayloadConverter(), new BinaryPayloadConverter(), new ArgumentConverter());
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
