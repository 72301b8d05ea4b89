/** A value for each period, the latest first; undefined if there is none. */
export type Series = readonly (number | undefined)[];

type Value = Series | number;

/**
 * The part of metric math that the alarms use, with AWS's rules for missing values:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 * An operator takes a missing operand for 0; if both are missing, or the divisor is 0, there is no value. IF has none if its
 * condition has none. FILL fills every gap.
 */
export function evaluateExpression(expression: string, series: Readonly<Record<string, Series>>): Series {
  const tokens = expression.match(/[a-z]\w*|[A-Z]+|\d+(?:\.\d+)?|[<>=!]=|[-+*/(),<>]/g) ?? [];
  if (tokens.join('') !== expression.replace(/\s/g, '')) throw new Error(`not understood: ${expression}`);
  let position = 0;
  const peek = () => tokens[position];
  const take = (wanted?: string) => {
    const token = tokens[position];
    if (token === undefined || (wanted !== undefined && token !== wanted)) {
      throw new Error(`${wanted ?? 'more'} is missing in ${expression}, at ${token}`);
    }
    position += 1;
    return token;
  };

  const binary = (level: number): Value => {
    const operators = levels[level];
    if (operators === undefined) return primary();
    let left = binary(level + 1);
    for (let next = peek(); next !== undefined && operators.includes(next); next = peek()) {
      left = combine(take(), left, binary(level + 1));
    }
    return left;
  };

  const primary = (): Value => {
    const token = take();
    if (/^\d/.test(token)) return Number(token);
    if (token === '(') {
      const value = binary(0);
      take(')');
      return value;
    }
    if (/^[A-Z]/.test(token)) return callFunction(token, readArguments());
    const found = series[token];
    if (found === undefined) throw new Error(`${token} is no metric of ${expression}`);
    return found;
  };

  const readArguments = (): Value[] => {
    const values: Value[] = [];
    take('(');
    for (;;) {
      values.push(binary(0));
      if (take() === ')') return values;
    }
  };

  const value = binary(0);
  if (peek() !== undefined) throw new Error(`${peek()} is too much in ${expression}`);
  if (typeof value === 'number') throw new Error(`${expression} is a number, which no alarm can watch`);
  return value;
}

/** The operators, those with the lowest precedence first. */
const levels: readonly (readonly string[])[] = [
  ['<', '>', '<=', '>=', '==', '!='],
  ['+', '-'],
  ['*', '/'],
];

const operations: Readonly<Record<string, (a: number, b: number) => number>> = {
  '<': (a, b) => Number(a < b),
  '>': (a, b) => Number(a > b),
  '<=': (a, b) => Number(a <= b),
  '>=': (a, b) => Number(a >= b),
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
};

function combine(operator: string, left: Value, right: Value): Value {
  const operation = operations[operator];
  if (operation === undefined) throw new Error(`${operator} is no operator`);
  if (typeof left === 'number' && typeof right === 'number') return operation(left, right);
  const length = Math.max(lengthOf(left), lengthOf(right));
  return Array.from({ length }, (_, index) => {
    const [a, b] = [at(left, index), at(right, index)];
    const isMissing = typeof left === 'number' ? b === undefined : typeof right === 'number' ? a === undefined : false;
    if (isMissing || (a === undefined && b === undefined)) return undefined;
    const result = operation(a ?? 0, b ?? 0);
    return Number.isFinite(result) ? result : undefined;
  });
}

function callFunction(name: string, [first = [], second = 0, third = 0, ...more]: readonly Value[]): Value {
  if (more.length > 0 || typeof first === 'number') throw new Error(`${name} is called otherwise here`);
  if (name === 'FILL' && typeof second === 'number') return first.map((value) => value ?? second);
  if (name !== 'IF') throw new Error(`${name} is no function here`);
  return first.map((condition, index) => {
    if (condition === undefined) return undefined;
    return condition === 0 ? at(third, index) : (at(second, index) ?? 0);
  });
}

function at(value: Value, index: number): number | undefined {
  return typeof value === 'number' ? value : value[index];
}

function lengthOf(value: Value): number {
  return typeof value === 'number' ? 0 : value.length;
}
