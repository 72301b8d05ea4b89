import { parse } from '@babel/parser';

/** A small defect: a piece of a file and its replacement. */
export interface Defect {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** The defects of a node, given the file's text and the nodes around it, the nearest last. */
type Plant = (node: Node, source: string, around: readonly Node[]) => readonly Defect[];

/** Every small defect that can be planted in a TypeScript file, in the order of its lines. */
export function findDefects(source: string): Defect[] {
  const program = parse(source, { sourceType: 'module', plugins: ['typescript'] }).program as unknown as Node;
  const defects: Defect[] = [];
  const visit = (node: Node, around: readonly Node[]): void => {
    defects.push(...(plants[node.type]?.(node, source, around) ?? []));
    for (const child of childrenOf(node)) visit(child, [...around, node]);
  };
  visit(program, []);
  return defects.sort((a, b) => a.start - b.start || a.end - b.end);
}

export function plantDefect(source: string, { start, end, text }: Defect): string {
  return source.slice(0, start) + text + source.slice(end);
}

/** TypeScript's own nodes do nothing at run time, except those around an expression. */
const typesOnly = /^TS(?!(As|Satisfies|NonNull|Instantiation))/;

function childrenOf(node: Node): Node[] {
  const namesFile = node.type === 'ImportDeclaration' || (node.type.startsWith('Export') && node.source);
  if (namesFile || typesOnly.test(node.type)) return [];
  return Object.values(node).flat().filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

const replace = (node: Node, text: string): Defect => ({ start: node.start, end: node.end, text });
const child = (node: Node, name: string): Node => node[name] as Node;

/** Replaces an operator by another, if there is one. */
const swap =
  (others: Readonly<Record<string, string>>): Plant =>
  (node, source) => {
    const operator = String(node.operator);
    const text = others[operator];
    const [left, right] = [child(node, 'left'), child(node, 'right')];
    const joinsText = operator === '+' && [left, right].some(({ type }) => /^(String|Template)Literal$/.test(type));
    if (text === undefined || joinsText) return [];
    const start = source.indexOf(operator, left.end);
    return [{ start, end: start + operator.length, text }];
  };

/** A condition that always holds, and one that never does. */
const decide: Plant = (node) => ['true', 'false'].map((text) => replace(child(node, 'test'), text));

const drop: Plant = (node) => [replace(node, ';')];

/** Only early returns: without its last `return` a function is more than slightly wrong. */
const dropEarly: Plant = (node, source, around) => {
  const [outer, parent] = around.slice(-2);
  const isLast = parent?.type === 'BlockStatement' && /Function|Method/.test(outer?.type ?? '');
  return isLast ? [] : drop(node, source, around);
};

const dropAwait: Plant = (node) => [{ start: node.start, end: child(node, 'argument').start, text: '' }];

const dropNegation: Plant = (node) =>
  node.operator === '!' || node.operator === '-'
    ? [{ start: node.start, end: child(node, 'argument').start, text: '' }]
    : [];

/** A small number is an index or a step: off by one. A large one is a limit: doubled. */
const changeNumber: Plant = (node) => {
  const value = Number(node.value);
  return [replace(node, String(value < 10 ? value + 1 : value * 2))];
};

const changeText: Plant = (node, _source, around) => {
  const parent = around.at(-1);
  return parent?.key === node && parent.computed !== true ? [] : [replace(node, node.value === '' ? "'x'" : "''")];
};

/** The first words of a template. */
const changeTemplate: Plant = (node) => {
  const words = (node.quasis as Node[]).find(({ start, end }) => end > start);
  return words ? [replace(words, '')] : [];
};

const plants: Readonly<Record<string, Plant>> = {
  BinaryExpression: swap({
    ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===', '==': '!=', '!=': '==' },
    ...{ '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '&': '|', '|': '&', '<<': '>>', '>>': '<<', '>>>': '<<' },
  }),
  LogicalExpression: swap({ '&&': '||', '||': '&&', '??': '&&' }),
  AssignmentExpression: swap({ '+=': '-=', '-=': '+=', '??=': '=', '||=': '=', '&&=': '=' }),
  UnaryExpression: dropNegation,
  UpdateExpression: (node) => [
    node.prefix
      ? { start: node.start, end: node.start + 2, text: node.operator === '++' ? '--' : '++' }
      : { start: node.end - 2, end: node.end, text: node.operator === '++' ? '--' : '++' },
  ],
  IfStatement: decide,
  ConditionalExpression: decide,
  NumericLiteral: changeNumber,
  StringLiteral: changeText,
  TemplateLiteral: changeTemplate,
  BooleanLiteral: (node) => [replace(node, String(!node.value))],
  ExpressionStatement: drop,
  ThrowStatement: drop,
  BreakStatement: drop,
  ContinueStatement: drop,
  ReturnStatement: dropEarly,
  AwaitExpression: dropAwait,
};
