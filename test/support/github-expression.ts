/**
 * Evaluates the part of GitHub's expressions that these workflows use: names, `.*`, strings, `contains`, `format`, `always`, `==`,
 * `&&` and `!`. Strings are compared without regard to case, as on GitHub.
 * https://docs.github.com/actions/reference/workflows-and-actions/expressions
 */
export function evaluate(expression: string, contexts: Readonly<Record<string, unknown>>): unknown {
  const tokens = expression.match(/'(?:[^']|'')*'|[\w-]+(?:\.(?:[\w-]+|\*))*|==|&&|[!(),]/g) ?? [];
  let position = 0;
  const take = (wanted: string) => tokens[position] === wanted && ++position > 0;
  const expect = (wanted: string) => {
    if (!take(wanted)) throw new Error(`${wanted} is missing before ${tokens[position]} in ${expression}`);
  };

  const both = (): unknown => {
    let value = equality();
    while (take('&&')) {
      const other = equality();
      value = value && other;
    }
    return value;
  };
  const equality = (): unknown => {
    const value = operand();
    return take('==') ? isSame(value, operand()) : value;
  };
  const operand = (): unknown => {
    if (take('!')) return !operand();
    if (take('(')) {
      const value = both();
      expect(')');
      return value;
    }
    const token = tokens[position++] ?? '';
    if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
    if (!take('(')) return token.split('.').reduce<unknown>(step, contexts);
    const given: unknown[] = [];
    while (!take(')')) {
      given.push(both());
      take(',');
    }
    return call(token, given);
  };

  const value = both();
  if (position < tokens.length) throw new Error(`nothing is known of ${tokens[position]} in ${expression}`);
  return value;
}

function step(value: unknown, name: string): unknown {
  if (name === '*') return Array.isArray(value) ? new Elements(...value) : [];
  if (value instanceof Elements) return value.map((element) => step(element, name));
  return (value as Record<string, unknown> | undefined)?.[name];
}

/** The result of a `*`: the next name is looked up in each element. */
class Elements extends Array<unknown> {}

function call(name: string, [first, ...others]: readonly unknown[]): unknown {
  if (name === 'always') return true;
  if (name === 'format') return String(first).replace(/\{(\d)\}/g, (_, index) => String(others[Number(index)] ?? ''));
  if (name === 'contains') {
    if (Array.isArray(first)) return first.some((element) => isSame(element, others[0]));
    return String(first).toLowerCase().includes(String(others[0]).toLowerCase());
  }
  throw new Error(`nothing is known of ${name}()`);
}

function isSame(one: unknown, other: unknown): boolean {
  const fold = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value);
  return fold(one) === fold(other);
}
