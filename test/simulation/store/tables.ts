import { marshall } from '@aws-sdk/util-dynamodb';
import type { CallService } from '../../../lambda/aws/call-service.ts';
import type { Item, Update } from '../../../lambda/store/dynamodb/table.ts';
import { evaluateUpdate } from '../../support/expressions.ts';
import type { StoreFault } from '../plan.ts';
import type { Process } from '../scheduler.ts';
import type { StoreWorld, WorldStore, Write } from './store.ts';

export const tableNames = { keysTable: 'keys', quotaTable: 'quota' } as const;

interface Input extends Update {
  readonly TableName: string;
  readonly Key: { readonly pk: { readonly S: string } };
}

/** The tables of a world, in memory: slow, failing before or after a write, or without an answer, as its plan says. */
export function createTables({
  plan: { storeLatency, storeFaults },
  subject,
  scheduler,
  trace,
}: StoreWorld): WorldStore {
  const keys = new Map<string, Item>();
  const counters = new Map<string, Item>();
  const initial = new Map<string, Item>();
  const writes: Write[] = [];
  const faults: Partial<Record<StoreFault['kind'], number>> = {};
  let calls = 0;

  /** Carries a call out. Returns the answer, or the item that refused it. */
  function carryOut(operation: string, input: Input): { readonly answer: object } | { readonly refusing: Item } {
    const key = input.Key.pk.S;
    const items = input.TableName === tableNames.keysTable ? keys : counters;
    const found = items.get(key);
    if (operation === 'GetItem') return { answer: found ? { Item: found } : {} };
    const before = found ?? {};
    const after = evaluateUpdate(before, input);
    if (!after) return { refusing: before };
    items.set(key, { ...after, pk: input.Key.pk });
    writes.push({ time: scheduler.now(), key, before, after, token: tokenOf(input) });
    return { answer: { Attributes: after } };
  }

  /** What a process calls it by. */
  function callFrom(process: Process, random: () => number): CallService {
    const { createRepeat, ServiceError } = subject;
    const repeat = createRepeat({ now: scheduler.now, random });
    return (operation, input) => {
      const number = calls;
      calls += 1;
      const fault = storeFaults.find(({ call }) => call === number);
      return repeat(
        (attempt, patience) =>
          new Promise((resolve, reject) => {
            const kind = fault && attempt <= fault.tries ? fault.kind : undefined;
            if (kind) faults[kind] = (faults[kind] ?? 0) + 1;
            const lose = () => reject(new ServiceError('NoAnswer', 'no answer'));
            const answerLater = (act: () => void) => scheduler.at(storeLatency, process, act);
            patience.giveUp = lose;
            trace(() => `store call ${number}.${attempt}: ${operation} ${describe(input as Input)} ${kind ?? ''}`);
            const arrive = () => {
              if (kind === 'failing') {
                return answerLater(() => reject(new ServiceError('InternalServerError', 'failing', { status: 500 })));
              }
              if (kind === 'throttled') {
                const name = 'ProvisionedThroughputExceededException';
                return answerLater(() => reject(new ServiceError(name, 'throttled', { status: 400 })));
              }
              const outcome = carryOut(operation, input as Input);
              trace(() => `store call ${number}.${attempt} is ${'answer' in outcome ? 'done' : 'refused'}`);
              if (kind === 'lost after') return answerLater(lose);
              return answerLater(() => {
                if ('answer' in outcome) return resolve(outcome.answer as never);
                const details = { Item: outcome.refusing };
                return reject(new ServiceError('ConditionalCheckFailedException', 'no', { status: 400, details }));
              });
            };
            if (kind === 'lost before') scheduler.at(2 * storeLatency, process, lose);
            else scheduler.at(kind === 'slow' ? 1_500 : storeLatency, undefined, arrive);
          }),
      );
    };
  }

  const put = (items: Map<string, Item>, key: string, item: object) =>
    items.set(key, marshall({ pk: key, ...item }, { removeUndefinedValues: true }) as unknown as Item);

  return {
    open: async (process, random) => ({
      store: subject.createDynamoStore(callFrom(process, random), tableNames, scheduler.now),
      close: async () => {},
    }),
    putKey(hash, record) {
      put(keys, `key#${hash}`, record);
      put(keys, 'issued', {});
    },
    putUsed(item, day, used) {
      for (const items of [counters, initial]) put(items, item, { [`u${day}`]: used });
    },
    counters,
    initial,
    writes,
    faults,
    startThread: () => {
      throw new Error('tables need no thread');
    },
  };
}

/** The token of a charge or refund, or the reservation that is settled. */
function tokenOf(update: Update): string | undefined {
  const { UpdateExpression: expression = '' } = update;
  const { ExpressionAttributeValues: values, ExpressionAttributeNames: names } = update;
  if (/REMOVE #/.test(expression)) return Object.values(names ?? {}).find((name) => name.startsWith('h'));
  return /ADD u/.test(expression) ? values?.[':token']?.B : undefined;
}

/** Without tokens, which are drawn for many worlds ahead. */
function describe({ TableName, Key, UpdateExpression = '' }: Input): string {
  return `${TableName}/${Key.pk.S} ${UpdateExpression.replace(/ REMOVE .*/, '')}`.trim();
}
