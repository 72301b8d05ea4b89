import { describe, expect, test } from '@jest/globals';
import { findDefects, plantDefect } from './defects.ts';

/** Every version of a text with one defect. */
const defective = (source: string) => findDefects(source).map((defect) => plantDefect(source, defect));

describe('a defect', () => {
  test.each<[string, string, string[]]>([
    ['a comparison', 'f(a < b);', [';', 'f(a <= b);']],
    ['an equality', 'f(a === b);', [';', 'f(a !== b);']],
    ['a sum', 'f(a + b);', [';', 'f(a - b);']],
    ['not a joined text', 'f(a + `b`);', [';', 'f(a + ``);']],
    ['a logical operator', 'f(a && b);', [';', 'f(a || b);']],
    ['a fallback', 'f(a ?? b);', [';', 'f(a && b);']],
    ['a negation', 'f(!a);', [';', 'f(a);']],
    ['a step', 'f(a++);', [';', 'f(a--);']],
    ['a step before', 'f(--a);', [';', 'f(++a);']],
    ['an assignment', 'a += b;', [';', 'a -= b;']],
    ['a condition', 'if (a) f();', ['if (true) f();', 'if (false) f();', 'if (a) ;']],
    ['a choice', 'f(a ? b : c);', [';', 'f(true ? b : c);', 'f(false ? b : c);']],
    ['a small number', 'f(0);', [';', 'f(1);']],
    ['a large number', 'f(60_000);', [';', 'f(120000);']],
    ['a text', "f('a');", [';', "f('');"]],
    ['no text', "f('');", [';', "f('x');"]],
    ['a template', `f(\`\${a} b \${c} d\`);`, [';', `f(\`\${a}\${c} d\`);`]],
    ['a flag', 'f(true);', [';', 'f(false);']],
    ['an exception', 'throw a;', [';']],
    ['an await', 'await f();', ['f();', ';']],
    ['a loop that goes on', 'for (const a of b) continue;', ['for (const a of b) ;']],
    [
      'leaving early',
      'const f = () => { if (a) return b; return c; };',
      [
        'const f = () => { if (true) return b; return c; };',
        'const f = () => { if (false) return b; return c; };',
        'const f = () => { if (a) ; return c; };',
      ],
    ],
    ['what stands in parentheses', 'f((a) < (b));', [';', 'f((a) <= (b));']],
  ])('is %s', (_name, source, expected) => {
    expect(defective(source)).toEqual(expected);
  });

  test.each([
    "import a from 'b';",
    "export { a } from 'b';",
    "export * from 'b';",
    "const a: 'b' | 1 = c;",
    "type A = 'b' extends 1 ? true : false;",
    'interface A { b: 1 }',
    "const a = { 'b': c };",
    'function f(a: true) { return a; }',
  ])('is nowhere in %s', (source) => {
    expect(defective(source)).toEqual([]);
  });

  test('is found inside type assertions', () => {
    expect(defective('f(1 as number);')).toContain('f(2 as number);');
    expect(defective('f((1 satisfies number)!);')).toContain('f((2 satisfies number)!);');
    expect(defective('class A { readonly b: 1 = 1; }')).toEqual(['class A { readonly b: 1 = 2; }']);
  });
});
