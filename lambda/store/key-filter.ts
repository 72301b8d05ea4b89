import type { ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import type { KeyState } from '../identity/identity.ts';

export interface KeyFilter {
  /** Only keys in this state. Whether one has expired depends on the clock. */
  readonly state?: { readonly is: KeyState; readonly at: number } | undefined;
  /** Only keys whose label has this text in it. */
  readonly label?: string | undefined;
}

/** The part of a query or scan that selects the items. */
export type Page = Pick<
  ScanCommandInput,
  'Limit' | 'ExclusiveStartKey' | 'FilterExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

const states: Readonly<Record<KeyState, string>> = {
  revoked: 'attribute_exists(revokedAt)',
  expired: 'attribute_not_exists(revokedAt) AND expiresAt <= :now',
  live: 'attribute_not_exists(revokedAt) AND (attribute_not_exists(expiresAt) OR expiresAt > :now)',
};

/** The filter in DynamoDB's terms, so that items left out are not sent. */
export function filterFor({ state, label }: KeyFilter): Page | undefined {
  const conditions = [
    ...(state ? [states[state.is]] : []),
    ...(label === undefined ? [] : ['contains(#label, :label)']),
  ];
  if (conditions.length === 0) return undefined;
  const values = {
    ...(state && state.is !== 'revoked' && { ':now': state.at }),
    ...(label !== undefined && { ':label': label }),
  };
  return {
    FilterExpression: conditions.join(' AND '),
    ...(label !== undefined && { ExpressionAttributeNames: { '#label': 'label' } }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
}
