import type { CallService } from '../../../lambda/aws/call-service.ts';
import { ServiceError } from '../../../lambda/aws/repeat.ts';
import type { Item, Update } from '../../../lambda/tables/table.ts';
import { itemSize, writeUnits } from '../../../lambda/tables/table.ts';
import { evaluateUpdate } from '../../support/expressions.ts';

export interface MemoryCaller {
  readonly callDynamoDb: CallService;
  /** The units of each write so far, refused ones included: those of the larger item, before or after it. */
  readonly units: number[];
  load(item: string): Item;
}

/** A store by the model, for tests that would take minutes with an emulator. */
export function createMemoryCaller(): MemoryCaller {
  const items = new Map<string, Item>();
  const units: number[] = [];
  const write = (input: Update & { readonly Key: { readonly pk: { readonly S: string } } }) => {
    const { pk } = input.Key;
    const before = items.get(pk.S);
    const after = evaluateUpdate(before ?? { pk }, input);
    units.push(writeUnits(Math.max(...[before, after].map((item) => (item ? itemSize(item) : 0)))));
    if (!after) {
      const details = before ? { Item: before } : {};
      throw new ServiceError('ConditionalCheckFailedException', 'the model refuses', { status: 400, details });
    }
    items.set(pk.S, after);
    return { Attributes: after };
  };
  const call = async (operation: string, input: Parameters<typeof write>[0]) =>
    operation === 'GetItem' ? { Item: items.get(input.Key.pk.S) } : write(input);
  return { callDynamoDb: call as CallService, units, load: (item) => items.get(item) ?? {} };
}
