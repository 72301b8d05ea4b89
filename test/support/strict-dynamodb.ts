import { keysSchema, quotaSchema, type TableSchema } from '../../lambda/store/dynamodb/schema.ts';

type Request = Readonly<Record<string, unknown>>;

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
const schemas: Readonly<Record<string, TableSchema>> = { keys: keysSchema, quota: quotaSchema };

/** Throws if DynamoDB would refuse a request to one of the test's tables, or ignore part of it, although the emulator doesn't. */
export function requireStrict(operation: string, request: { readonly TableName?: unknown }): void {
  const schema = schemas[`${request.TableName}`];
  const faults = schema ? findFaults(operation, { ...request }, schema) : [];
  if (faults.length > 0) throw new Error(`${operation} ${JSON.stringify(request)}: ${faults.join(', ')}`);
}

function findFaults(operation: string, request: Request, { ttlAttribute }: TableSchema): string[] {
  const known = fields[operation]?.split(' ') ?? [];
  const { ConditionExpression, ReturnValuesOnConditionCheckFailure: onFailure } = request;
  const ttl = Object(request.Item)[ttlAttribute];
  const expressions = Object.entries(request).flatMap(([name, text]) =>
    name.endsWith('Expression') ? [`${text}`] : [],
  );
  const operators = (text: string) => text.match(/\b(AND|OR|NOT)\b|[<>=+-]|\w\(/g) ?? [];
  return [
    ...Object.keys(request).filter((field) => !known.includes(field)),
    ...(onFailure !== undefined && !ConditionExpression ? ['nothing can fail'] : []),
    ...(ttl && !/^\d{10}$/.test(String(ttl.N)) ? ['a ttl that is no time in seconds'] : []),
    ...expressions.filter((text) => Buffer.byteLength(text) > 4_096).map(() => 'a text of more than 4 KB'),
    ...expressions.filter((text) => operators(text).length > 300).map(() => 'more than 300 operators'),
  ];
}
