import { describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../lambda/aws/service-error.ts';
import type { ChargeResult, CounterWindow } from '../../../lambda/quota/counters.ts';
import { createToken, nextToken } from '../../../lambda/quota/token.ts';
import { type Counted, combineCharges } from '../../../lambda/store/combine-charges.ts';
import { outage } from '../../../lambda/store/time-limit.ts';
import fc from '../../support/properties.ts';

const usual: CounterWindow = { item: 'item', limit: 50, burst: 40, minute: 7 };

/** A write that waits until the test decides its outcome. */
interface Write extends PromiseWithResolvers<Counted> {
  readonly window: CounterWindow;
  readonly token: string;
  readonly charges: number;
}

/** Callers of one process, and the writes that they have made. */
function createProcess() {
  const writes: Write[] = [];
  const combined = combineCharges((window, token, charges) => {
    const write = { window, token, charges, ...Promise.withResolvers<Counted>() };
    writes.push(write);
    return write.promise;
  });
  const charge = (more: Partial<CounterWindow> = {}) => {
    const charged = combined({ ...usual, ...more }, createToken());
    charged.catch(() => {}); // looked at later
    return charged;
  };
  const chargeMany = (count: number, more: Partial<CounterWindow> = {}) =>
    Array.from({ length: count }, () => charge(more));
  /** Decides the outcome of the latest write; resolves when all consequences have happened. */
  const settle = async (counted: Counted | Error) => {
    const write = writes.at(-1);
    if (counted instanceof Error) write?.reject(counted);
    else write?.resolve(counted);
    await new Promise(setImmediate);
  };
  return { writes, charge, chargeMany, settle, sizes: () => writes.map(({ charges }) => charges) };
}

const applied = (used: number, inMinute = used): Counted => ({ applied: true, used, inMinute });
const refused = (used: number, inMinute = used): Counted => ({ applied: false, used, inMinute });
const granted = (used: number): ChargeResult => ({ granted: true, used });

describe('charges of one counter', () => {
  test('leave at once if none is on its way', async () => {
    const { charge, settle, sizes } = createProcess();
    for (const used of [1, 2, 3]) {
      const charged = charge();
      await settle(applied(used));
      expect(await charged).toEqual(granted(used));
    }
    expect(sizes()).toEqual([1, 1, 1]);
  });

  test('that wait for a write leave together, with the same answers as one by one', async () => {
    const { chargeMany, settle, sizes } = createProcess();
    const charges = chargeMany(5);
    await settle(applied(8));
    charges.push(...chargeMany(2));
    await settle(applied(13));
    await settle(applied(15));
    expect(await Promise.all(charges)).toEqual([8, 10, 11, 12, 13, 14, 15].map(granted));
    expect(sizes()).toEqual([1, 4, 2]);
  });

  test('ask for no more than the room that was left', async () => {
    const { chargeMany, settle, sizes } = createProcess();
    const charges = chargeMany(9);
    await settle(applied(48, 1));
    await settle(applied(50, 3));
    const spent = { granted: false, reason: 'quota', used: 50 };
    expect(await Promise.all(charges)).toEqual([granted(48), granted(49), granted(50), ...Array(6).fill(spent)]);
    expect(sizes()).toEqual([1, 2]);
  });

  test('learn which limit refuses them', async () => {
    const { chargeMany, settle } = createProcess();
    const charges = chargeMany(3);
    await settle(applied(10, 40));
    await settle(refused(9, 40));
    const tooFast = { granted: false, reason: 'burst', used: 9 };
    expect(await Promise.all(charges)).toEqual([granted(10), tooFast, tooFast]);
  });

  test('that are refused together are settled for each, as others have left room', async () => {
    const { chargeMany, settle, sizes, writes } = createProcess();
    const charges = chargeMany(6);
    await settle(applied(1));
    await settle(refused(48, 1));
    await settle(refused(49, 1));
    await settle(applied(50, 2));
    const spent = { granted: false, reason: 'quota', used: 50 };
    expect(await Promise.all(charges)).toEqual([granted(1), granted(50), ...Array(4).fill(spent)]);
    expect(sizes()).toEqual([1, 5, 2, 1]);
    // A refused write is final; the next one is another write.
    expect(new Set(writes.map(({ token }) => token)).size).toBe(4);
  });

  test('that came after the write that was refused are not refused with it', async () => {
    const { charge, chargeMany, settle, sizes } = createProcess();
    const charges = chargeMany(2);
    await settle(applied(50));
    const late = charge();
    await settle(refused(50));
    // Meanwhile somebody was given a charge back.
    await settle(applied(50));
    expect(await Promise.all([...charges, late])).toMatchObject([{ granted: true }, { granted: false }, granted(50)]);
    expect(sizes()).toEqual([1, 1, 1]);
  });

  test('are not combined with those of another minute, limit or counter', async () => {
    const { charge, writes } = createProcess();
    const others = [{}, { minute: 8 }, { limit: 51 }, { burst: 41 }, { item: 'other' }];
    const charges = others.map((more) => charge(more));
    for (const write of writes) write.resolve(applied(1));
    expect(await Promise.all(charges)).toEqual(others.map(() => granted(1)));
  });

  test('are when they expire at different times, and the latest holds', async () => {
    const { charge, settle, writes } = createProcess();
    const charges = [1, 2, 3].map((expiresAt) => charge({ expiresAt }));
    await settle(applied(1));
    await settle(applied(3));
    await Promise.all(charges);
    expect(writes.map(({ window }) => window.expiresAt)).toEqual([1, 3]);
  });
});

describe('a combined write that fails', () => {
  const outcomes = async (charges: Promise<ChargeResult>[]) =>
    (await Promise.allSettled(charges)).map((one) => (one.status === 'fulfilled' ? one.value : one.reason.reason));

  test('fails for each of its charges, and those that wait are tried', async () => {
    const { charge, chargeMany, settle, sizes } = createProcess();
    const charges = chargeMany(3);
    await settle(applied(1));
    charges.push(charge());
    await settle(outage(new Error('throttled'), true));
    await settle(applied(4));
    expect(await outcomes(charges)).toEqual([granted(1), 'answer_lost', 'answer_lost', granted(4)]);
    expect(sizes()).toEqual([1, 2, 1]);
  });

  test('because the store is too slow fails for those that wait as well, uncharged', async () => {
    const { charge, chargeMany, settle, sizes } = createProcess();
    const charges = chargeMany(3);
    await settle(outage(outage(new ServiceError('TooSlow', ''), true), true));
    expect(await outcomes(charges)).toEqual(['answer_lost', undefined, undefined]);
    expect(sizes()).toEqual([1]);
    const next = charge();
    await settle(applied(1));
    expect(await next).toEqual(granted(1));
  });
});

/**
 * A counter that others use too, between any two writes. What is told has to be what it would be one by one: a charge is
 * counted once for each that is granted, and at some moment of each refusal there was no room.
 */
test('charges are granted and refused as one by one, whatever others do meanwhile', async () => {
  const limits = fc.record({ limit: fc.integer({ min: 0, max: 12 }), burst: fc.integer({ min: 0, max: 12 }) });
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('come'), count: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 3, arbitrary: fc.constant({ kind: 'answer', count: 1 }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('others take'), count: fc.integer({ min: 1, max: 3 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('others give back'), count: fc.integer({ min: 1, max: 3 }) }),
    },
  );
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { maxLength: 30 }), async ({ limit, burst }, steps) => {
      const { charge, writes, settle } = createProcess();
      const counter = { used: 0, inMinute: 0, mine: 0 };
      let moment = 0;
      let lastWithoutRoom = -1;
      const look = () => {
        moment += 1;
        if (counter.used >= limit || counter.inMinute >= burst) lastWithoutRoom = moment;
      };
      const told: ChargeResult[] = [];
      let coming = 0;
      let answered = 0;
      const answer = async () => {
        if (answered === writes.length) return;
        answered += 1;
        const { charges } = writes.at(-1) as Write;
        const fits = counter.used + charges <= limit && counter.inMinute + charges <= burst;
        if (fits) {
          counter.used += charges;
          counter.inMinute += charges;
          counter.mine += charges;
        }
        look();
        const before = told.length;
        await settle({ applied: fits, used: counter.used, inMinute: counter.inMinute });
        const news = told.slice(before).filter((one) => one.granted);
        expect(news.map(({ used }) => used)).toEqual(news.map((_, index) => counter.used - news.length + index + 1));
      };
      for (const { kind, count } of steps) {
        if (kind === 'answer') await answer();
        else if (kind === 'come') {
          for (let index = 0; index < count; index += 1) {
            coming += 1;
            const cameAt = moment;
            void charge({ limit, burst }).then((result) => {
              if (!result.granted) expect(lastWithoutRoom).toBeGreaterThan(cameAt);
              told.push(result);
            });
          }
        } else if (kind === 'others take' && counter.used + count <= limit && counter.inMinute + count <= burst) {
          counter.used += count;
          counter.inMinute += count;
          look();
        } else if (kind === 'others give back') {
          counter.used = Math.max(0, counter.used - count);
          look();
        }
      }
      while (answered < writes.length) await answer();
      expect(told).toHaveLength(coming);
      expect(told.filter((one) => one.granted)).toHaveLength(counter.mine);
    }),
    { numRuns: 300 },
  );
});

test('tokens that follow one another differ, and are as long', () => {
  const tokens = ['AAAAAAA='];
  for (let count = 0; count < 100; count += 1) tokens.push(nextToken(tokens.at(-1) as string));
  expect(new Set(tokens).size).toBe(101);
  for (const token of tokens) expect(Buffer.from(token, 'base64').every((byte) => byte < 0x80)).toBe(true);
  expect(new Set(tokens.map(({ length }) => length))).toEqual(new Set([8]));
});
