import { marshall } from '@aws-sdk/util-dynamodb';
import type { CallService } from '../../lambda/aws/call-service.ts';
import type { Item, Update } from '../../lambda/store/dynamodb/table.ts';
import { evaluateUpdate } from '../support/expressions.ts';
import type { Subject } from './bundle.ts';
import type { Plan, StoreFault } from './plan.ts';
import type { Process, Scheduler } from './scheduler.ts';

export const tables = { keys: 'keys', quota: 'quota' } as const;

/** One write to a counter that was applied. */
export interface Write {
  readonly time: number;
  readonly key: string;
  readonly before: Item;
  readonly after: Item;
  readonly update: Update;
}

interface Input extends Update {
  readonly TableName: string;
  readonly Key: { readonly pk: { readonly S: string } };
}

export type Store = ReturnType<typeof createStore>;

/** The tables of a world, in memory: slow, failing before or after a write, or without an answer, as its plan says. */
export function createStore(
  { storeLatency, storeFaults }: Plan,
  scheduler: Scheduler,
  trace: (line: () => string) => void,
) {
  const items = new Map<string, Item>();
  const initial = new Map<string, Item>();
  const writes: Write[] = [];
  const counted: Partial<Record<StoreFault['kind'], number>> = {};
  let calls = 0;

  /** Carries a call out. Returns the answer, or the item that refused it. */
  function carryOut(operation: string, input: Input): { readonly answer: object } | { readonly refusing: Item } {
    const name = `${input.TableName}/${input.Key.pk.S}`;
    const found = items.get(name);
    if (operation === 'GetItem') return { answer: found ? { Item: found } : {} };
    const before = found ?? {};
    const after = evaluateUpdate(before, input);
    if (!after) return { refusing: before };
    items.set(name, { ...after, pk: input.Key.pk });
    writes.push({ time: scheduler.now(), key: input.Key.pk.S, before, after, update: input });
    return { answer: { Attributes: after } };
  }

  /** What a process calls it by. */
  function callFrom(process: Process, { createRepeat, ServiceError }: Subject, random: () => number): CallService {
    const repeat = createRepeat({ now: scheduler.now, random });
    return (operation, input) => {
      const number = calls;
      calls += 1;
      const fault = storeFaults.find(({ call }) => call === number);
      return repeat(
        (attempt, patience) =>
          new Promise((resolve, reject) => {
            const kind = fault && attempt <= fault.tries ? fault.kind : undefined;
            if (kind) counted[kind] = (counted[kind] ?? 0) + 1;
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

  return {
    /** As a process has it. */
    openFor: (process: Process, subject: Subject, random: () => number) =>
      subject.createDynamoStore(
        callFrom(process, subject, random),
        { keysTable: tables.keys, quotaTable: tables.quota },
        scheduler.now,
      ),
    /** Puts an item there before the world begins. */
    put: (table: string, key: string, item: object) => {
      const marshalled = marshall({ pk: key, ...item }, { removeUndefinedValues: true }) as unknown as Item;
      for (const map of [items, initial]) map.set(`${table}/${key}`, marshalled);
    },
    items: items as ReadonlyMap<string, Item>,
    /** As it was before. */
    initial: initial as ReadonlyMap<string, Item>,
    writes: writes as readonly Write[],
    faults: counted,
  };
}

/** Without tokens, which are drawn for many worlds ahead. */
function describe({ TableName, Key, UpdateExpression = '' }: Input): string {
  return `${TableName}/${Key.pk.S} ${UpdateExpression.replace(/ REMOVE .*/, '')}`.trim();
}
