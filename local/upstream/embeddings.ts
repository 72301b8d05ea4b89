import { createHash } from 'node:crypto';
import type { JsonObject } from './json.ts';
import { BadRequest } from './speaker.ts';

export const embeddingsPath = '/v1/embeddings';

const usualLength = 8;

/** An answer to a request for embeddings: equal texts get equal vectors. */
export function embed(body: JsonObject, model: string): JsonObject {
  const inputs = readInputs(body.input);
  const { dimensions: length = usualLength } = body;
  if (typeof length !== 'number' || !Number.isInteger(length) || length < 1 || length > 4_096) {
    throw new BadRequest(400, "'dimensions' must be a whole number from 1 to 4096.");
  }
  const tokens = inputs.reduce<number>(
    (sum, input) => sum + (typeof input === 'string' ? Math.ceil(input.length / 4) : input.length),
    0,
  );
  return {
    object: 'list',
    data: inputs.map((input, index) => {
      const vector = vectorOf(JSON.stringify(input), length);
      const inBase64 = body.encoding_format === 'base64';
      return { object: 'embedding', index, embedding: inBase64 ? encode(vector) : [...vector] };
    }),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** A string, a list of strings, a list of tokens, or a list of those. */
function readInputs(input: unknown): readonly (string | readonly number[])[] {
  const isTokens = (value: unknown): value is readonly number[] =>
    Array.isArray(value) && value.length > 0 && value.every((token) => typeof token === 'number');
  if (typeof input === 'string' || isTokens(input)) return [input];
  if (Array.isArray(input) && input.length > 0 && input.every((one) => typeof one === 'string' || isTokens(one))) {
    return input;
  }
  throw new BadRequest(400, "'input' must be a text, a list of texts, or their tokens.");
}

/** A unit vector, as from most models. */
function vectorOf(text: string, length: number): Float32Array {
  const bytes = Array.from({ length }, (_, at) => createHash('sha256').update(`${at} ${text}`).digest().readInt8());
  const size = Math.hypot(...bytes) || 1;
  return Float32Array.from(bytes, (byte) => byte / size);
}

const encode = (vector: Float32Array): string => Buffer.from(vector.buffer).toString('base64');
