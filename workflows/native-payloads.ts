import {
  BinaryPayloadConverter,
  CompositePayloadConverter,
  encodingKeys,
  JsonPayloadConverter,
  METADATA_ENCODING_KEY,
  type Payload,
  type SerializationContext,
  UndefinedPayloadConverter,
  ValueError,
} from '@temporalio/common';
import { UNSTORED } from '../shared/execution.ts';

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

export class NativePayloadConverter extends CompositePayloadConverter {
  constructor() {
    super(new UndefinedPayloadConverter(), new BinaryPayloadConverter(), new NativeJsonConverter());
  }
}

/** The SDK looks for this name. */
export const payloadConverter = new NativePayloadConverter();
