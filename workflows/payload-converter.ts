import {
  type ConverterHint,
  DefaultPayloadConverter,
  type Payload,
  type SerializationContext,
  ValueError,
} from '@temporalio/common';

/**
 * What stands in for a payload that cannot be decoded. It has none of the fields that input and signals need, so they
 * are refused as malformed; and it cannot be encoded, so it never becomes the result of anything.
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
 * The default converter, but for payloads that it cannot decode. Anybody who reaches Temporal can send a run a signal
 * that another codec has encoded, by mistake for instance. The SDK decodes it before any handler sees it; an error there
 * would fail the workflow task again and again, and the run would never go on.
 */
class TolerantPayloadConverter extends DefaultPayloadConverter {
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

/** Under this name the bundler looks for it. */
export const payloadConverter = new TolerantPayloadConverter();
