import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { testRows } from '../support/test-rows.ts';

const script = `
  const { quoteUnlessKey } = await import(process.argv[1] + '/json/quoting.ts');
  const { createScanner } = await import(process.argv[1] + '/json/scan.ts');
  const { hasReferences } = await import(process.argv[1] + '/dialects/responses/request-body.ts');
  const { sealed } = await import(process.argv[1] + '/dialects/model/sealed.ts');
  const long = 'a'.repeat(5e6);
  for (const id of [long, 'sk-' + long, 'a1'.repeat(25e5)]) console.log(quoteUnlessKey(id).length);
  console.log(hasReferences(createScanner().scan('{"input":[{"' + long + '":1}]}')));
  console.log(hasReferences(createScanner().scan('{"input":[{"file_id":1}]}')));
  console.log(sealed.test('encrypted_' + long), sealed.test('encrypted_content'));
`;
const lambda = join(import.meta.dirname, '../../lambda');

// V8 stops optimizing regular expressions in a process that has compiled many.
testRows([[], ['--no-regexp-optimization'], ['--regexp-interpret-all']])(
  'ids of 5 MB are quoted, or not, and names of members of 5 MB are judged, within the stack',
  (...flags) => {
    const output = execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script, lambda]);
    // The colon, the quotes and a hundred characters; the others may be keys.
    expect(String(output)).toBe('104\n0\n0\nfalse\ntrue\nfalse true\n');
  },
);
