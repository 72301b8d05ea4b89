import { upstreamModel } from './conversation.ts';

const [count, length] = [2_048, 1_536];

/** A response with as many vectors as one request may ask for, of a usual length. */
export function answerOfVectors(inBase64: boolean): Buffer {
  // The numbers differ within a vector; between vectors they need not.
  const vector = Float32Array.from({ length }, (_, at) => Math.sin(at + 1) / 28);
  const embedding = inBase64
    ? Buffer.from(vector.buffer).toString('base64')
    : [...vector].map((one) => Math.fround(one));
  const data = Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding }));
  const usage = { prompt_tokens: 16_384, total_tokens: 16_384 };
  return Buffer.from(JSON.stringify({ object: 'list', data, model: upstreamModel, usage }));
}

export const vectorsBody = JSON.stringify({
  model: 'svc-embedding',
  input: Array.from({ length: count }, (_, index) => `What stands in paragraph ${index}?`),
});
