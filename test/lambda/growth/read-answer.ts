import { Readable } from 'node:stream';
import { readText } from '../../../lambda/http/bodies.ts';
import { rewriteAnswer } from '../../support/rewrite.ts';
import { chat } from '../../support/stream-events.ts';

// Reads a long plain answer, which repeats `part` between `before` and `after`, and prints its cost.
const [before = '', part = '', after = '', size] = process.argv.slice(2);
const portion = part.repeat(Math.ceil(65_536 / part.length));

function* arrive() {
  yield Buffer.from(before);
  for (let sent = portion.length; sent < Number(size); sent += portion.length) yield Buffer.from(portion);
  yield Buffer.from(part + after);
}

const peak = (): number => process.resourceUsage().maxRSS * 1024;
const text = await readText(Readable.from(arrive()), 32 * 1024 * 1024);
const read = peak();
let outcome: string;
try {
  rewriteAnswer(chat, text);
  outcome = 'rewritten';
} catch (error) {
  outcome = String(error);
}
console.log(JSON.stringify({ length: text.length, added: peak() - read, outcome }));
