import type { Row } from '../examination/row.ts';
import { chatProbe } from './dialect-probes.ts';
import type { Acquaintance } from './greet.ts';
import { judgeShape } from './judge-shape.ts';
import type { Ledger } from './ledger.ts';
import { redSquare } from './red-square.ts';

/** Asks the vision model about a picture, by its alias: one request of quota. Nothing else needs that model. */
export async function* examineVision({ record }: Ledger, key: string, { models }: Acquaintance): AsyncGenerator<Row> {
  const [text, vision] = models;
  const content = [
    { type: 'text', text: 'Which colour is this?' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${redSquare}` } },
  ];
  const reply = await record({
    method: 'POST',
    path: chatProbe.path,
    headers: chatProbe.keyHeaders(key),
    body: { model: `${text}-image`, messages: [{ role: 'user', content }] },
  });
  yield { area: chatProbe.name, check: 'sees a picture', ...judgeShape(reply, chatProbe.answer(vision)) };
}
