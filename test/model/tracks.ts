import { startDeafUpstream } from '../support/deaf-upstream.ts';
import { refusingUrl } from '../support/fake-upstream.ts';
import { type DialectName, dialectNames } from '../support/fixtures.ts';
import { createRandom } from '../support/random.ts';
import type { SpoilStore, StoreFault } from '../support/store-proxy.ts';
import type { Menu } from './cases.ts';
import * as outcomes from './outcomes.ts';
import { runTrack, type Summary, type Track } from './run.ts';

const menus = Object.fromEntries(
  dialectNames.map((dialect) => [
    dialect,
    {
      whole: outcomes.wholeOutcomes(dialect),
      stream: outcomes.streamOutcomes(dialect),
      tokens: outcomes.tokenOutcomes,
      silent: outcomes.silentOutcomes(dialect),
      endless: outcomes.endlessOutcomes(dialect),
    },
  ]),
) as Record<DialectName, Readonly<Record<'whole' | 'stream' | 'tokens' | 'silent' | 'endless', outcomes.Outcomes>>>;

const quick: Menu = (dialect, wanted) => menus[dialect][wanted];
const silent: Menu = (dialect, wanted) => menus[dialect][wanted === 'stream' ? 'silent' : wanted];
const endless: Menu = (dialect, wanted) => (wanted === 'stream' ? menus[dialect].endless : outcomes.endlessAnswers);
const unreachable: Menu = (dialect) => (dialect === 'messages' ? outcomes.deaf : outcomes.refusing);

/** Faults that the store's caller overcomes by itself if its third try succeeds. */
const storeFaults: readonly StoreFault[] = ['request lost', 'answer lost', 'failing', 'late'];

/** Runs a number of requests drawn by a seed, with each kind of outcome on the track where it takes the least time. */
export async function runModel(seed: number, requests: number): Promise<Record<string, Summary>> {
  await using deaf = await startDeafUpstream();
  const random = createRandom(seed);
  const spoilStore: SpoilStore = ({ attempt }) =>
    attempt < 3 && random.once(4) ? random.pick(storeFaults) : undefined;
  const few = Math.round(requests / 25);
  // Each request has its own time limit, so a crowd must not exceed what a busy machine serves within it.
  const base = { menu: quick, upstreams: 1, crowd: 25, company: 20 } as const;
  const tracks: Readonly<Record<string, Track & { readonly requests: number }>> = {
    'every outcome': { ...base, upstreams: 2, crowd: 50, company: 1, requests: requests - 5 * few },
    'a store that loses what it is told and what it says': {
      ...base,
      spoilStore,
      crowd: 10,
      company: 1,
      requests: 2 * few,
    },
    'upstreams that fall silent': {
      ...base,
      menu: silent,
      requests: few,
      environment: { UPSTREAM_IDLE_TIMEOUT: '1', KEEP_ALIVE_INTERVAL: '0.3' },
    },
    'upstreams that do not end': {
      ...base,
      menu: endless,
      requests: few,
      environment: { REQUEST_TIMEOUT: '1' },
    },
    'upstreams that can’t be reached': {
      ...base,
      menu: unreachable,
      requests: few,
      environment: {
        UPSTREAM_BASE_URL: refusingUrl,
        UPSTREAM_MESSAGES_BASE_URL: deaf.url,
        UPSTREAM_CONNECT_TIMEOUT: '1',
      },
    },
  };
  const summaries = await Promise.all(
    Object.entries(tracks).map(async ([name, track], index) => [
      name,
      await runTrack(track, track.requests, seed * 10 + index),
    ]),
  );
  return Object.fromEntries(summaries);
}
