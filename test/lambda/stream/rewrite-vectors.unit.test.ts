import { expect, test } from '@jest/globals';
import { embeddings } from '../../../lambda/dialects/embeddings/embeddings.ts';
import type { Usage } from '../../../lambda/dialects/model/findings.ts';
import { createScanner, scanLeniently } from '../../../lambda/json/scan.ts';
import { rewriteAnswer } from '../../../lambda/stream/rewrite-answer.ts';
import { createVectorsRewriter } from '../../../lambda/stream/rewrite-vectors.ts';
import fc, { cut } from '../../support/properties.ts';
import { formatOf, hiding } from '../../support/rewrite.ts';
import { testRows } from '../../support/test-rows.ts';

/** Rewrites an answer that arrives in these chunks. Returns the output, what was parsed, and the usage. */
function pass(...chunks: (string | Uint8Array)[]) {
  const usage: Usage = {};
  const read: string[] = [];
  const rewriter = createVectorsRewriter((text) => {
    read.push(text);
    return rewriteAnswer(scanLeniently(createScanner(), text), formatOf(embeddings), hiding, usage);
  });
  const out = chunks.map((chunk) => rewriter.push(Buffer.from(chunk)));
  out.push(rewriter.finish());
  return { output: Buffer.concat(out).toString(), pieces: out.filter(({ length }) => length > 0), read, usage };
}

const floats = (...vector: number[]) => JSON.stringify(vector);
const item = (index: number, vector: string) => `{"object":"embedding","index":${index},"embedding":${vector}}`;
const answerOf = (...items: string[]) =>
  `{"object":"list","data":[${items.join(',')}],"model":"acmecorp/thunder-70b-instruct","usage":{"prompt_tokens":8,"total_tokens":8}}`;
const hidden = (text: string) => text.replace('acmecorp/thunder-70b-instruct', 'svc');

const answers: [name: string, answer: string, expected: string][] = [
  ['of numbers', answerOf(item(0, floats(0.25, -1e-7, 3)), item(1, '[ 1 ,\n2 ]')), ''],
  ['of bytes', answerOf(item(0, '"AACAPw=="'), item(1, '"AcmeCorp/+aB"')), ''],
  ['of none', answerOf(), ''],
  ['without numbers of their own', '{"data":[{"embedding":[1]},{"embedding":[22]},{"embedding":[33]}]}', ''],
  ['of several for each text', answerOf(item(0, '[[1,2],[3]]'), item(1, '[[],[[4]] ,[ ]]'), item(2, '[5]')), ''],
  ['of an empty one', answerOf(item(0, '[]'), item(1, '""')), ''],
  [
    'in the order of other servers',
    `{"model":"acmecorp/thunder-70b-instruct","data":[{"embedding":[1],"index":0}]}`,
    '',
  ],
  ['with spaces', ` {"data" : [ {"embedding" : [1] , "index" : 0} ] , "object" : "list"} `, ''],
  [
    'of an upstream that names itself everywhere',
    `{"id":"gen-1","provider":"AcmeCorp","data":[{"note":"by Ac\\u006deCorp","embedding":[1],"model":"thunder"},{"embedding":[2],"Thunder":"é AcmeCorp"}],"x_acme":{"a":1},"usage":{"prompt_tokens":8,"cost":1}}`,
    `{"id":"embd-1","data":[{"note":"by svc","embedding":[1],"model":"svc"},{"embedding":[2],"svc":"é svc"}],"usage":{"prompt_tokens":8}}`,
  ],
  [
    'with a key that looks like it',
    `{"data":[{"my \\"embedding":"thunder","embedding":[1]}]}`,
    `{"data":[{"my \\"embedding":"svc","embedding":[1]}]}`,
  ],
];

testRows(answers)('an answer is rewritten but for its vectors, wherever it is cut', (_, answer, expected) => {
  const bytes = Buffer.from(answer);
  const whole = expected || hidden(answer);
  expect(pass(answer).output).toBe(whole);
  for (let at = 1; at < bytes.length; at += 1) expect(pass(...cut(bytes, [at])).output).toBe(whole);
  expect(pass(...[...bytes].map((byte) => Uint8Array.of(byte))).output).toBe(whole);
});

test('the output is that of the whole answer, wherever it is split', () => {
  const text = fc.constantFrom('a', 'AcmeCorp', 'é AcmeCorp\n', 'my "embedding":[', '\\');
  const floats = fc.array(fc.double({ noNaN: true }));
  const vector = fc.oneof(floats, fc.array(floats), fc.base64String());
  const more = fc.dictionary(fc.constantFrom('a', 'note', 'provider', 'model', 'thunder'), text);
  const one = fc.tuple(more, vector, more).map(([a, embedding, b]) => ({ ...a, embedding, ...b }));
  const answer = fc.record({ ...{ id: text, data: fc.array(one) }, model: text, x_a: text, usage: fc.constant({}) });
  const cuts = fc.array(fc.nat(), { maxLength: 6 });
  fc.assert(
    fc.property(answer, cuts, (given, places) => {
      const bytes = Buffer.from(JSON.stringify(given));
      const { output } = pass(...cut(bytes, places));
      const whole = rewriteAnswer(createScanner().scan(String(bytes)), formatOf(embeddings), hiding, {});
      expect(JSON.parse(output)).toEqual(JSON.parse(whole));
    }),
  );
});

test('vectors stream through, and equal pieces between them are parsed once', () => {
  const halves = ['{"data":[', item(0, '[1').slice(0, -1), ',2', ',3', `]},${item(1, '[4]')},${item(2, '[5]')}]}`];
  const { pieces, read } = pass(...halves);
  expect(pieces.map(String)).toEqual([
    '{"data":[{"object":"embedding","index":0,"embedding":[1',
    ',2',
    ',3',
    `]},${item(1, '[4]')},${item(2, '[5]').slice(0, -1)}`,
    '}]}',
  ]);
  expect(read).toHaveLength(3);
});

test('a name in a piece is hidden even if the piece before had none', () => {
  const note = (text: string) => `{"note":"${text}","index":1,"embedding":[1]}`;
  const { output } = pass(`{"data":[${[note('a'), note('a'), note('acme'), note('acme'), note('a')].join(',')}]}`);
  expect(output).toBe(`{"data":[${[note('a'), note('a'), note('svc'), note('svc'), note('a')].join(',')}]}`);
});

test('the usage is found wherever it stands', () => {
  expect(pass(answerOf(item(0, '[1]'))).usage).toEqual({ input: 8 });
  expect(pass(`{"usage":{"prompt_tokens":3},"data":[${item(0, '[1]')}]}`).usage).toEqual({ input: 3 });
});

testRows([
  ['ends within a vector of numbers', '{"data":[{"embedding":[1,2'],
  ['ends within one of bytes', '{"data":[{"embedding":"AAA'],
  ['ends after a vector', '{"data":[{"embedding":[1]'],
  ['has a text in a vector', '{"data":[{"embedding":["AcmeCorp"]}]}'],
  ['has a text after numbers', '{"data":[{"embedding":[1,"AcmeCorp"],"index":0}]}'],
  ['has a text in another', '{"data":[{"embedding":[[1],["AcmeCorp"]],"index":0}]}'],
  ['ends within vectors of vectors', '{"data":[{"embedding":[[1],[2]'],
  ['has its vectors elsewhere', '{"vectors":{"embedding":[1]}}'],
  ['is a list', '[{"embedding":[1]}]'],
  ['is no JSON', '<html>'],
  ['reports a failure', '{"error":{"message":"AcmeCorp is full"}}'],
  ['is endless around its vectors', `{"data":[{"note":"${'x'.repeat(65_536)}","embedding":[1]}]}`],
])('what is no whole answer of vectors is a fault', (_, answer) => {
  expect(() => pass(answer)).toThrow();
  expect(() => pass(...cut(answer, [9, 11, 20]))).toThrow();
});
