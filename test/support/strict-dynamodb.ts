import { keysSchema, quotaSchema, type TableSchema } from '../../lambda/tables/schema.ts';

/*
 * DynamoDB's rules for the requests of the gateway's tables, read from its documentation and more strictly than the emulator
 * reads them: what is not known to be allowed is a fault.
 */

type Values = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface Request {
  readonly TableName?: string;
  readonly Key?: Values;
  readonly Item?: Values;
  readonly IndexName?: string;
  readonly UpdateExpression?: string;
  readonly ConditionExpression?: string;
  readonly FilterExpression?: string;
  readonly KeyConditionExpression?: string;
  readonly ProjectionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Values;
  readonly ReturnValues?: string;
  readonly ReturnValuesOnConditionCheckFailure?: string;
}

const writes = 'ConditionExpression ReturnValues ReturnValuesOnConditionCheckFailure';
const names = 'TableName ExpressionAttributeNames';
const pages =
  'IndexName FilterExpression ProjectionExpression ExpressionAttributeValues ExclusiveStartKey Limit Select';
const fields: Readonly<Record<string, string>> = {
  GetItem: `${names} Key ConsistentRead ProjectionExpression`,
  PutItem: `${names} Item ExpressionAttributeValues ${writes}`,
  UpdateItem: `${names} Key UpdateExpression ExpressionAttributeValues ${writes}`,
  DeleteItem: `${names} Key ExpressionAttributeValues ${writes}`,
  Query: `${names} KeyConditionExpression ScanIndexForward ConsistentRead ${pages}`,
  Scan: `${names} ConsistentRead Segment TotalSegments ${pages}`,
};
const returned: Readonly<Record<string, readonly string[]>> = {
  UpdateItem: ['NONE', 'ALL_OLD', 'UPDATED_OLD', 'ALL_NEW', 'UPDATED_NEW'],
};
const operators = /\b(AND|OR|NOT|IN|BETWEEN)\b/g;
const functions =
  /\b(attribute_(not_)?exists|attribute_type|begins_with|contains|size|if_not_exists|list_append)\b *(?=\()/g;
/** Names that were looked up in the list of reserved words, none of which has a digit. Others need a placeholder. */
const notReserved = new Set(
  'used ulifetime revokedAt expiresAt digest purpose takenBy live pk device tries polledAt signedOutAt'
    .concat(' decision decidedAt decidedBy approvedBy')
    .split(' '),
);
const setTypes = ['SS', 'NS', 'BS'];

const schemas: Readonly<Record<string, TableSchema>> = { keys: keysSchema, quota: quotaSchema };

/** Throws if DynamoDB would refuse this request to one of the test's tables. */
export function requireStrict(operation: string, request: Request): void {
  const schema = schemas[request.TableName ?? ''];
  const faults = schema ? findFaults(operation, request, schema) : [];
  if (faults.length > 0) throw new Error(`${operation} ${JSON.stringify(request)}: ${faults.join(', ')}`);
}

function findFaults(operation: string, request: Request, schema: TableSchema): string[] {
  const { ReturnValues = 'NONE', ReturnValuesOnConditionCheckFailure: onFailure } = request;
  const known = fields[operation]?.split(' ') ?? [];
  const faults = Object.keys(request).filter((field) => !known.includes(field));
  if (!(returned[operation] ?? ['NONE', 'ALL_OLD']).includes(ReturnValues)) faults.push(`ReturnValues ${ReturnValues}`);
  if (onFailure !== undefined && (onFailure !== 'ALL_OLD' || !request.ConditionExpression)) faults.push('onFailure');
  return [
    ...faults,
    ...findFaultyKeys(request, schema),
    ...findFaultyValues({ ...request.Key, ...request.Item, ...request.ExpressionAttributeValues }),
    ...findFaultyExpressions(request),
    ...findFaultyClauses(request, schema),
  ];
}

function findFaultyKeys({ Key, Item }: Request, { partitionKey, ttlAttribute, indexes }: TableSchema): string[] {
  const faults: string[] = [];
  const key = (Key ?? Item)?.[partitionKey.name]?.S;
  if (Key && Object.keys(Key).join() !== partitionKey.name) faults.push('a key of other attributes');
  const isKey = typeof key === 'string' && key !== '' && Buffer.byteLength(key) <= 2048;
  if ((Key || Item) && !isKey) faults.push('a key that is no text of 1 to 2,048 bytes');
  if (!Item) return faults;
  if (Item[ttlAttribute] && !/^\d{10}$/.test(String(Item[ttlAttribute].N)))
    faults.push('a ttl that is no time in seconds');
  for (const { name, type } of indexes.flatMap(({ partitionKey: part, sortKey }) =>
    sortKey ? [part, sortKey] : [part],
  )) {
    if (Item[name] && !Item[name][type]) faults.push(`${name} does not fit its index`);
  }
  return faults;
}

function findFaultyValues(values: Values): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const [[type = '', content] = [], ...others] = Object.entries(value);
    if (others.length === 0 && /^[LM]$/.test(type)) return findFaultyValues(Object(content));
    if (others.length > 0 || !['S', 'N', 'B', 'BOOL', ...setTypes].includes(type)) return [`${name} has no one type`];
    const elements = setTypes.includes(type) ? (content as readonly string[]) : [content];
    if (elements.length === 0) return [`${name} is an empty set`];
    if (new Set(elements).size < elements.length) return [`${name} names an element twice`];
    return elements.every((element) => isElement(type[0], element)) ? [] : [`${name} is no ${type}`];
  });
}

function isElement(type: string | undefined, element: unknown): boolean {
  if (typeof element !== 'string') return type === 'B' && typeof element === 'boolean';
  if (type === 'N') return /^-?\d{1,38}(\.\d+)?$/.test(element);
  return type !== 'B' || Buffer.from(element, 'base64').toString('base64') === element;
}

function findFaultyExpressions(request: Request): string[] {
  const { ExpressionAttributeNames: named = {}, ExpressionAttributeValues: valued = {} } = request;
  const expressions = Object.entries(request).flatMap(([field, text]) =>
    field.endsWith('Expression') ? [text as string] : [],
  );
  const all = expressions.join(' ');
  const words =
    all
      .replaceAll(functions, '')
      .replaceAll(operators, '')
      .match(/[#:]?\w+/g) ?? [];
  const placeholders = words.filter((word) => /^[#:]/.test(word));
  const defined = [...Object.keys(named), ...Object.keys(valued)];
  const bare = words.filter((word) => !/^([#:].*|SET|REMOVE|ADD|DELETE)$/.test(word));
  return [
    ...expressions.filter((text) => text === '' || Buffer.byteLength(text) > 4096).map(() => 'an expression’s length'),
    ...expressions
      .filter((text) => (text.match(/\b(AND|OR|NOT)\b|[<>=+-]|\w\(/g) ?? []).length > 300)
      .map(() => '300 operators'),
    ...placeholders.filter((word) => !defined.includes(word)).map((word) => `${word} is not defined`),
    ...defined.filter((word) => !placeholders.includes(word)).map((word) => `${word} is not used`),
    ...defined.filter((word) => !/^[#:]\w{1,254}$/.test(word)).map((word) => `${word} is no placeholder`),
    ...bare
      .filter((word) => !/^[a-z]\w*\d/.test(word) && !notReserved.has(word))
      .map((word) => `${word} may be reserved`),
  ];
}

/** The clauses of an UpdateExpression: each at most once, no two of them for one path, and each with what it takes. */
function findFaultyClauses({ UpdateExpression: text, ...request }: Request, { partitionKey }: TableSchema): string[] {
  if (text === undefined) return [];
  const parts = text.split(/(?:^| )(SET|REMOVE|ADD|DELETE) /);
  const verbs = parts.filter((_, index) => index % 2 === 1);
  const faults = verbs.filter((verb, index) => verbs.indexOf(verb) < index).map((verb) => `${verb} twice`);
  if (parts[0] !== '') faults.push('no clause');
  const paths: string[] = [];
  for (const [index, verb] of verbs.entries()) {
    for (const action of (parts[2 * index + 2] ?? '').split(/, (?![^(]*\))/)) {
      const [path = '', operand] = action.split(verb === 'SET' ? ' = ' : ' ');
      paths.push(request.ExpressionAttributeNames?.[path] ?? path);
      const [type = ''] = Object.keys(request.ExpressionAttributeValues?.[operand ?? ''] ?? {});
      const taken = { ADD: ['N', ...setTypes], DELETE: setTypes }[verb];
      if (taken && (!taken.includes(type) || /[.[]/.test(path))) faults.push(`${verb} ${action}`);
      if (verb === 'REMOVE' ? operand !== undefined : !operand) faults.push(`${verb} ${action}`);
    }
  }
  if (paths.includes(partitionKey.name)) faults.push('a key can’t be changed');
  const overlapping = paths.filter((path, at) => paths.some((other, index) => index !== at && isWithin(other, path)));
  return [...faults, ...overlapping.map((path) => `${path} overlaps with another path`)];
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);
}
