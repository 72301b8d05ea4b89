import type { Random } from '../support/random.ts';

/** Names and values that mean something in some places, for use in any place. */
const names = [
  ...['model', 'messages', 'input', 'stream', 'content', 'role', 'type', 'text', 'tools', 'tool_choice', 'system'],
  ...['thinking', 'output_config', 'effort', 'max_tokens', 'prompt', 'source', 'output', 'image_url', 'id', 'thread'],
  ...['previous_response_id', 'conversation', 'background', '__proto__', 'constructor', 'toString', 'length', ''],
];
const words = [
  ...['svc', 'svc-vision', 'opus', 'sonnet[1m]', 'claude-x', 'constructor', '__proto__', 'user', 'assistant', 'tool'],
  ...['text', 'image', 'image_url', 'input_image', 'input_text', 'tool_result', 'none', 'disabled', 'message', 'video'],
];
const literals = ['0', '-0', '1.0', '1e400', '-1E-400', '12345678901234567890', '0.1e+1', 'true', 'false', 'null'];
const noJson = ['1e', '01', 'NaN', '+1', 'True', 'undefined', '', "'a'", '"a', '/**/1'];
const texts = [
  '',
  ' ',
  'é',
  '\u0000',
  '\u2028',
  '😀',
  '\ud800',
  'a"b\\c',
  '\r\n',
  'AcmeCorp',
  'data: x\n\n',
  '</script>',
];

export function drawText(random: Random): string {
  return random.once(3) ? random.pick(texts) : random.pick(words);
}

/** JSON, sometimes slightly broken. It is drawn as text, so that it can have duplicate keys and numbers such as 1e400. */
export function drawJson(random: Random): string {
  if (random.once(40)) return nest(random);
  const members = [
    member('model', random.once(8) ? drawValue(random, 2) : JSON.stringify(random.pick(words.slice(0, 5))), random),
    member('messages', random.once(6) ? drawValue(random, 3) : drawMessages(random), random),
    member('input', random.once(3) ? drawValue(random, 3) : drawMessages(random), random),
  ];
  if (random.once(2)) members.push(member('stream', random.pick(['true', 'true', 'false', 'null', '1']), random));
  for (let more = random.below(4); more > 0; more -= 1) {
    members.push(member(random.pick(names), drawValue(random, 3), random));
  }
  if (random.once(8)) members.splice(random.below(3), 1);
  return `{${members.join(random.once(100) ? ',,' : ',')}}`;
}

function drawMessages(random: Random): string {
  const parts = Array.from({ length: random.below(3) }, () => {
    const rest = random.once(2) ? `,${member(random.pick(names), drawValue(random, 2), random)}` : '';
    return `{"type":${JSON.stringify(random.pick(words))},"text":${drawString(random)}${rest}}`;
  });
  const content = random.once(3) ? drawValue(random, 2) : `[${parts.join(',')}]`;
  return `[{"role":${JSON.stringify(random.pick(words.slice(6, 10)))},"content":${content}}]`;
}

function drawValue(random: Random, depth: number): string {
  if (random.once(80)) return random.pick(noJson);
  const dice = random.below(depth > 0 ? 6 : 3);
  if (dice === 0) return random.pick(literals);
  if (dice < 3) return drawString(random);
  const inside = Array.from({ length: random.below(4) }, () => drawValue(random, depth - 1));
  if (dice === 3) return `[${inside.join(',')}]`;
  return `{${inside.map((value) => member(random.pick(names), value, random)).join(',')}}`;
}

function drawString(random: Random): string {
  const text = JSON.stringify(drawText(random));
  return random.once(80) ? `"\\u${'0'.repeat(random.below(6))}\\x${text}"` : text;
}

/** A key, sometimes spelt with escapes. */
function member(name: string, value: string, random: Random): string {
  const code = name.charCodeAt(0).toString(16).padStart(4, '0');
  const spelt = name !== '' && random.once(10) ? `"\\u${code}${name.slice(1)}"` : JSON.stringify(name);
  return `${spelt}${random.once(10) ? ' \t\r\n' : ''}:${value}`;
}

function nest(random: Random): string {
  const depth = random.below(12_000);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"content":', '}'],
    ['{"a":[', ']}'],
  ]);
  return `{"model":"svc","messages":[],"input":"","x":${open?.repeat(depth)}1${close?.repeat(random.once(3) ? depth - 1 : depth)}}`;
}
