import { readFileSync } from 'node:fs';
import { parse } from '@babel/parser';
import type { Random } from './random.ts';

/** A node of a syntax tree, as far as types of an SDK need it. */
// biome-ignore lint/suspicious/noExplicitAny: each kind of node has other members
type Syntax = { readonly type: string; readonly [member: string]: any };

interface Declaration {
  readonly syntax: Syntax;
  /** The namespaces around it, with a dot after each. */
  readonly scope: string;
}

/** The types that an SDK declares, by their full names. If two files declare the same name, the first one wins. */
type Declarations = ReadonlyMap<string, Declaration>;

/** Resolves a type's name in a scope. */
function findType(declarations: Declarations, reference: string, scope: string): Declaration | undefined {
  for (let around = scope; ; around = around.replace(/[^.]+\.$/, '')) {
    const found = declarations.get(around + reference);
    if (found !== undefined) return found;
    if (around === '') break;
  }
  // In declaration files, a file's alias may precede the dot.
  return reference.includes('.') ? findType(declarations, reference.replace(/^[^.]+\./, ''), '') : undefined;
}

/** Where a value violates its declared type: required members that are missing, and members of another type. */
export function faultsIn(declarations: Declarations, name: string, value: unknown): string[] {
  const inDeclared = ({ syntax, scope }: Declaration, given: unknown, place: string): string[] => {
    if (syntax.type === 'TSTypeAliasDeclaration') return check(syntax.typeAnnotation, scope, given, place);
    const inherited = (syntax.extends ?? []).flatMap(({ expression }: Syntax) => {
      const parent = findType(declarations, expression.name, scope);
      return parent ? inDeclared(parent, given, place) : [];
    });
    return [...inherited, ...inMembers(syntax.body.body, scope, given, place)];
  };
  const inMembers = (members: readonly Syntax[], scope: string, given: unknown, place: string): string[] => {
    if (typeof given !== 'object' || given === null) return [`${place}: no object`];
    return members.flatMap((member) => {
      if (member.type !== 'TSPropertySignature') return [];
      const key = member.key.name ?? member.key.value;
      if (!Object.hasOwn(given, key)) return member.optional ? [] : [`${place}.${key}`];
      return check(member.typeAnnotation.typeAnnotation, scope, Object(given)[key], `${place}.${key}`);
    });
  };
  const each = (syntax: Syntax, scope: string, given: unknown, place: string): string[] =>
    Array.isArray(given)
      ? given.flatMap((one, at) => check(syntax, scope, one, `${place}[${at}]`))
      : [`${place}: no array`];
  const check = (syntax: Syntax, scope: string, given: unknown, place: string): string[] => {
    const is = (right: boolean) => (right ? [] : [`${place}: ${JSON.stringify(given)}`]);
    switch (syntax.type) {
      case 'TSUnionType':
        return closest(
          syntax.types.map((type: Syntax) => check(type, scope, given, place)),
          `${place}.type: `,
        );
      case 'TSTypeReference': {
        const reference = nameOf(syntax.typeName);
        const [inner] = syntax.typeParameters?.params ?? syntax.typeArguments?.params ?? [];
        if (reference === 'Array') return each(inner, scope, given, place);
        const found = findType(declarations, reference, scope);
        return found === undefined ? [] : inDeclared(found, given, place);
      }
      case 'TSTypeLiteral':
        return inMembers(syntax.members, scope, given, place);
      case 'TSLiteralType':
        return is(syntax.literal.value === given);
      case 'TSParenthesizedType':
        return check(syntax.typeAnnotation, scope, given, place);
      case 'TSArrayType':
        return each(syntax.elementType, scope, given, place);
      case 'TSStringKeyword':
        return is(typeof given === 'string');
      case 'TSNumberKeyword':
        return is(typeof given === 'number');
      case 'TSBooleanKeyword':
        return is(typeof given === 'boolean');
      case 'TSNullKeyword':
        return is(given === null);
      default:
        return [];
    }
  };
  const declared = declarations.get(name);
  if (declared === undefined) throw new RangeError(`${name} is not declared`);
  return inDeclared(declared, value, name);
}

/** Of a union's faults, those for the variant that the value's `type` names, otherwise the fewest. */
function closest(all: readonly string[][], ofType: string): string[] {
  const own = all.filter((faults) => !faults.some((fault) => fault.startsWith(ofType)));
  const [least = []] = (own.length > 0 ? own : all).toSorted((a, b) => a.length - b.length);
  return least;
}

export function readDeclarations(paths: readonly string[]): Declarations {
  const declarations = new Map<string, Declaration>();
  const collect = (statements: readonly Syntax[], scope: string): void => {
    for (const statement of statements) {
      const syntax = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
      if (syntax?.type === 'TSModuleDeclaration') collect(syntax.body.body, `${scope}${syntax.id.name}.`);
      else if (syntax?.type === 'TSInterfaceDeclaration' || syntax?.type === 'TSTypeAliasDeclaration') {
        const name = `${scope}${syntax.id.name}`;
        if (!declarations.has(name)) declarations.set(name, { syntax, scope: `${name}.` });
      }
    }
  };
  for (const path of paths) {
    const file = parse(readFileSync(path, 'utf8'), { sourceType: 'module', plugins: [['typescript', { dts: true }]] });
    collect(file.program.body, '');
  }
  return declarations;
}

interface Taste {
  readonly random: Random;
  /** An optional member is present once in this many times. */
  readonly rarity: number;
  /** Whether this variant of a union may be chosen. */
  readonly accept: (value: unknown) => boolean;
}

const deepest = 12;

/** Generates a value of a declared type. Each of its strings and numbers is unique: `mark7x`, `700007`. */
export function makeValue(declarations: Declarations, name: string, { random, rarity, accept }: Taste): unknown {
  let marks = 0;
  const find = (reference: string, scope: string) => findType(declarations, reference, scope);
  const membersOf = (members: readonly Syntax[], scope: string, depth: number): Record<string, unknown> => {
    const value: Record<string, unknown> = {};
    for (const member of members) {
      if (member.type === 'TSIndexSignature') value[`mark${++marks}x`] = `mark${++marks}x`;
      if (member.type !== 'TSPropertySignature') continue;
      if (member.optional && (depth > deepest || !random.once(rarity))) continue;
      value[member.key.name ?? member.key.value] = make(member.typeAnnotation.typeAnnotation, scope, depth + 1);
    }
    return value;
  };
  const makeDeclared = ({ syntax, scope }: Declaration, depth: number): unknown => {
    if (syntax.type === 'TSTypeAliasDeclaration') return make(syntax.typeAnnotation, scope, depth);
    const inherited = (syntax.extends ?? []).map(({ expression }: Syntax) => {
      const parent = find(expression.name, scope);
      return parent && makeDeclared(parent, depth);
    });
    return Object.assign({}, ...inherited, membersOf(syntax.body.body, scope, depth));
  };
  const makeReference = (syntax: Syntax, scope: string, depth: number): unknown => {
    const reference = nameOf(syntax.typeName);
    const [inner] = syntax.typeParameters?.params ?? syntax.typeArguments?.params ?? [];
    if (reference === 'Array') {
      const length = depth > deepest ? 0 : random.below(3) + (depth < 3 ? 1 : 0);
      return Array.from({ length }, () => make(inner, scope, depth + 1));
    }
    if (reference === 'Record') return { [`mark${++marks}x`]: `mark${++marks}x` };
    const found = find(reference, scope);
    return found === undefined ? `mark${++marks}x` : makeDeclared(found, depth);
  };
  const make = (syntax: Syntax, scope: string, depth: number): unknown => {
    switch (syntax.type) {
      case 'TSUnionType': {
        for (let tries = 0; tries < 1_000; tries += 1) {
          const value = make(random.pick(syntax.types), scope, depth);
          if (accept(value)) return value;
        }
        return null;
      }
      case 'TSTypeReference':
        return makeReference(syntax, scope, depth);
      case 'TSTypeLiteral':
        return membersOf(syntax.members, scope, depth);
      case 'TSLiteralType':
        return syntax.literal.value;
      case 'TSParenthesizedType':
        return make(syntax.typeAnnotation, scope, depth);
      case 'TSArrayType':
        return [make(syntax.elementType, scope, depth + 1)];
      case 'TSNumberKeyword':
        return 700_000 + ++marks;
      case 'TSBooleanKeyword':
        return random.once(2);
      case 'TSNullKeyword':
        return null;
      default:
        return `mark${++marks}x`;
    }
  };
  const declared = declarations.get(name);
  if (declared === undefined) throw new RangeError(`${name} is not declared`);
  return makeDeclared(declared, 0);
}

function nameOf(syntax: Syntax): string {
  return syntax.type === 'TSQualifiedName' ? `${nameOf(syntax.left)}.${nameOf(syntax.right)}` : syntax.name;
}
