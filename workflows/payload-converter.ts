import {
  type ConverterHint,
  type Payload,
  type SerializationContext,
  ValueError,
} from '@temporalio/common';
import { NativePayloadConverter } from './native-payloads.ts';

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

/**
 * The converter of all processes, except for payloads that it cannot decode. Anyone with access to Temporal can send a run a
 * signal in another encoding. The SDK decodes it before any handler; an error there would fail the workflow task again
 * and again, and block the run.
 */
class TolerantPayloadConverter extends NativePayloadConverter {
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
