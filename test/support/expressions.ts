import type { Item, Update, Value } from '../../lambda/store/dynamodb/table.ts';

/*
 * A model of UpdateItem for only those expressions that the counters use: `ADD`, `SET` to a value and `REMOVE`; comparisons of
 * numbers, `contains` and `attribute_exists`, with or without `NOT`, joined by `AND`; and placeholders of names (`#ttl`).
 * Anything else throws. test/exhaustive/store-model compares it with the emulator.
 */

/** The item after the update; undefined if the condition fails. A missing item is passed as an empty one. */
export function evaluateUpdate(item: Item, update: Update): Item | undefined {
  const value = operandsOf(update);
  const name = (text: string) =>
    text.startsWith('#') ? (update.ExpressionAttributeNames?.[text] ?? fail(text)) : text;
  const { ConditionExpression: condition, UpdateExpression: expression } = update;
  if (condition && !conditionOf(condition).every((term) => holds(item, { ...term, path: name(term.path) }, value)))
    return undefined;
  const changed: Record<string, Value> = { ...item };
  for (const { verb, path, operand } of changesOf(expression)) {
    const attribute = name(path);
    if (verb === 'REMOVE') delete changed[attribute];
    else if (verb === 'SET') changed[attribute] = value(operand);
    else changed[attribute] = add(item[attribute], value(operand));
  }
  return changed;
}

interface Change {
  readonly verb: string;
  readonly path: string;
  readonly operand: string;
}

interface Term {
  readonly negated: boolean;
  /** `contains`, `exists`, or a comparison operator. */
  readonly operator: string;
  readonly path: string;
  readonly operand: string;
}

const changesOf = memoize((expression: string): readonly Change[] => {
  const clauses = expression.split(/(?:^| )(ADD|SET|REMOVE) /).slice(1);
  if (clauses.length === 0 || clauses.length % 2 === 1) fail(expression);
  return clauses.flatMap((verb, index) => {
    if (index % 2 === 1) return [];
    const pattern = { ADD: /^(#?\w+) (:\w+)$/, SET: /^(#?\w+) = (:\w+)$/ }[verb] ?? /^(#?\w+)$/;
    return (clauses[index + 1] ?? '').split(', ').map((action) => {
      const [, path, operand = ''] = pattern.exec(action) ?? fail(action);
      return { verb, path: path ?? '', operand };
    });
  });
});

const conditionOf = memoize((expression: string): readonly Term[] =>
  expression.split(' AND ').map((text) => {
    const negated = text.startsWith('NOT ');
    const positive = negated ? text.slice(4) : text;
    const [, set, token] = /^contains\((\w+), (:\w+)\)$/.exec(positive) ?? [];
    if (set && token) return { negated, operator: 'contains', path: set, operand: token };
    const [, existing] = /^attribute_exists\((#?\w+)\)$/.exec(positive) ?? [];
    if (existing) return { negated, operator: 'exists', path: existing, operand: '' };
    const [, path = '', operator = '', operand = ''] = /^(\w+) (<|<=|>|>=) (:\w+)$/.exec(positive) ?? fail(text);
    return { negated, operator, path, operand };
  }),
);

/** A comparison with a missing attribute is false, and so is `contains`. */
function holds(item: Item, { negated, operator, path, operand }: Term, value: (name: string) => Value): boolean {
  const found = item[path];
  if (operator === 'exists') return (found !== undefined) !== negated;
  const wanted = value(operand);
  const isTrue = operator === 'contains' ? includes(found, wanted) : compare(found?.N, operator, wanted.N);
  return isTrue !== negated;
}

function includes(found: Value | undefined, { B }: Value): boolean {
  return B === undefined ? fail('contains') : (found?.BS?.includes(B) ?? false);
}

function compare(found: string | undefined, operator: string, wanted: string | undefined): boolean {
  if (wanted === undefined) fail('a comparison of what is no number');
  if (found === undefined) return false;
  const difference = Number(found) - Number(wanted);
  if (operator === '<') return difference < 0;
  if (operator === '<=') return difference <= 0;
  return operator === '>' ? difference > 0 : difference >= 0;
}

function add(found: Value | undefined, { N, BS }: Value): Value {
  if (N !== undefined) return { N: String(Number(found?.N ?? 0) + Number(N)) };
  return BS ? { BS: [...new Set([...(found?.BS ?? []), ...BS])].sort() } : fail('ADD');
}

function operandsOf({ ExpressionAttributeValues: values = {} }: Update): (name: string) => Value {
  return (name) => values[name] ?? fail(name);
}

function fail(text: string): never {
  throw new SyntaxError(`not known to the store's model: ${text}`);
}

/** Caches parsed expressions: there are few different ones. */
function memoize<T>(read: (expression: string) => T): (expression: string) => T {
  const known = new Map<string, T>();
  return (expression) => {
    const before = known.get(expression);
    if (before !== undefined) return before;
    const parsed = read(expression);
    known.set(expression, parsed);
    return parsed;
  };
}
