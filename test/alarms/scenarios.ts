import { metrics } from '../../lambda/report/metrics.ts';
import type { Traffic } from './traffic.ts';

interface Scenario {
  /** The traffic of each minute of the trouble, by the number of minutes since it began. */
  readonly trouble: (traffic: Traffic, minute: number, since: number) => void;
  /** The traffic before and after. */
  readonly otherwise?: (traffic: Traffic, minute: number, since: number) => void;
  /** Minutes. */
  readonly lasts?: number;
  /** The alarms that ring, with the number of minutes that it takes at most; all others stay silent. */
  readonly rings: Readonly<Record<string, number | 'by turns'>>;
}

type Step = (traffic: Traffic, minute: number, since: number) => void;

const times =
  (count: number, step: Step): Step =>
  (...now) => {
    for (let index = 0; index < count; index += 1) step(...now);
  };
/** Once in this many minutes. */
const every =
  (distance: number, step: Step): Step =>
  (traffic, minute, since) => {
    if (since % distance === 0) step(traffic, minute, since);
  };
const both =
  (...steps: readonly Step[]): Step =>
  (...now) => {
    for (const step of steps) step(...now);
  };

const healthy: Step = (traffic, minute) => traffic.answered(minute);
const dead: Step = (traffic, minute) => traffic.failed(minute, 'unreachable');
const servedByTheSecond: Step = (traffic, minute) => traffic.answered(minute, 900, ['unreachable']);
const scanners = times(100, (traffic, minute) => traffic.scanned(minute));

export const scenarios: Readonly<Record<string, Scenario>> = {
  'a quiet night': { trouble: every(30, healthy), otherwise: every(30, healthy), rings: {} },
  'nobody at all': { trouble: () => {}, rings: {} },
  'a busy day on which little goes wrong': {
    trouble: both(
      times(57, healthy),
      (traffic, minute) => traffic.answered(minute, 40_000),
      every(4, dead),
      every(7, (traffic, minute) => traffic.answered(minute, 900, ['limited'])),
      every(11, (traffic, minute) => traffic.failed(minute, 'missing')),
      times(20, (traffic, minute) => traffic.scanned(minute)),
    ),
    otherwise: times(60, healthy),
    rings: {},
  },
  'scanners at night': { trouble: scanners, rings: {} },
  'the upstream is down, sixty requests a minute': {
    trouble: times(60, dead),
    otherwise: times(60, healthy),
    rings: { UpstreamFailing: 6, UpstreamDown: 13 },
  },
  'the upstream is down, one request a minute': {
    trouble: dead,
    otherwise: healthy,
    rings: { UpstreamFailing: 15, UpstreamDown: 13 },
  },
  'the upstream is down, one request a minute, and scanners': {
    trouble: both(dead, scanners),
    otherwise: both(healthy, scanners),
    rings: { UpstreamFailing: 15, UpstreamDown: 13 },
  },
  'the upstream is down, one request in ten minutes': {
    trouble: every(10, dead),
    otherwise: every(10, healthy),
    rings: { UpstreamDown: 23 },
  },
  'the upstream is down for three minutes, sixty requests a minute': {
    lasts: 3,
    trouble: times(60, dead),
    otherwise: times(60, healthy),
    rings: { UpstreamFailing: 'by turns' },
  },
  'the first upstream is dead, the second serves, sixty requests a minute': {
    trouble: times(60, servedByTheSecond),
    otherwise: times(60, healthy),
    rings: { UpstreamFailing: 6, UpstreamDown: 15 },
  },
  'the first upstream is dead, the second serves, one request a minute': {
    trouble: servedByTheSecond,
    otherwise: healthy,
    rings: { UpstreamFailing: 15, UpstreamDown: 15 },
  },
  'the first upstream is dead, the second serves, one request in ten minutes': {
    trouble: every(10, servedByTheSecond),
    otherwise: every(10, healthy),
    rings: { UpstreamDown: 23 },
  },
  'one key of two is refused, the other serves, one request in ten minutes': {
    trouble: every(10, (traffic, minute) => traffic.answered(minute, 900, ['credentials'])),
    otherwise: every(10, healthy),
    rings: { UpstreamCredentialsRefused: 3, UpstreamDown: 23 },
  },
  'the first upstream limits the account, the second serves, sixty requests a minute': {
    trouble: both(times(59, healthy), (traffic, minute) => traffic.answered(minute, 900, ['limited'])),
    otherwise: times(60, healthy),
    rings: { UpstreamLimited: 8 },
  },
  'the model is gone, one request a minute': {
    trouble: (traffic, minute) => traffic.failed(minute, 'missing'),
    otherwise: healthy,
    rings: { UpstreamMissing: 8, UpstreamFailing: 15, UpstreamDown: 13 },
  },
  'the upstream is slow, one request a minute': {
    trouble: (traffic, minute) => traffic.answered(minute, 45_000),
    otherwise: healthy,
    rings: { UpstreamSlow: 16 },
  },
  'a tenth of all streams is slow, sixty requests a minute': {
    trouble: both(
      times(53, healthy),
      times(7, (traffic, minute) => traffic.answered(minute, 31_000)),
    ),
    otherwise: times(60, healthy),
    rings: { UpstreamSlow: 15 },
  },
  'the table loses its answers': {
    lasts: 2,
    trouble: both(
      times(60, healthy),
      times(10, (traffic, minute) => traffic.measure(minute, [{ metric: metrics.chargesLeftStanding, value: 1 }])),
    ),
    otherwise: times(60, healthy),
    rings: { ChargesLeftStanding: 3 },
  },
  'one charge is left standing': {
    lasts: 1,
    trouble: both(healthy, (traffic, minute) =>
      traffic.measure(minute, [{ metric: metrics.chargesLeftStanding, value: 1 }]),
    ),
    otherwise: healthy,
    rings: {},
  },
  'the secret can’t be read, one request in five minutes': {
    trouble: every(
      5,
      both(healthy, (traffic, minute) => traffic.measure(minute, [{ metric: metrics.secretsNotRefreshed, value: 1 }])),
    ),
    otherwise: every(5, healthy),
    rings: { SecretsNotRefreshed: 13 },
  },
  'AWS refuses every request, one a minute': {
    trouble: (traffic, minute) => traffic.turnedAway(minute),
    otherwise: healthy,
    rings: { UrlFailing: 15 },
  },
  'AWS refuses half of 120 requests a minute, and the gateway answers the others': {
    trouble: both(
      times(60, healthy),
      times(60, (traffic, minute) => traffic.turnedAway(minute)),
    ),
    otherwise: times(60, healthy),
    rings: { UrlFailing: 6 },
  },
  'AWS refuses one request a minute, and scanners': {
    trouble: both(scanners, (traffic, minute) => traffic.turnedAway(minute)),
    otherwise: scanners,
    rings: { UrlFailing: 15 },
  },
  'the gateway is stopped on purpose, sixty requests a minute': {
    trouble: times(60, (traffic, minute) => traffic.stopped(minute)),
    otherwise: times(60, healthy),
    rings: {},
  },
  'the function does not start, one request a minute': {
    trouble: (traffic, minute) => {
      traffic.lambda(minute, 'UrlRequestCount');
      traffic.lambda(minute, 'Url5xxCount');
      traffic.lambda(minute, 'Errors');
    },
    otherwise: healthy,
    rings: { FunctionErrors: 3, UrlFailing: 15 },
  },
  'Lambda throttles a third of sixty requests a minute': {
    trouble: both(
      times(40, healthy),
      times(20, (traffic, minute) => {
        traffic.turnedAway(minute);
        traffic.lambda(minute, 'Throttles');
      }),
    ),
    otherwise: times(60, healthy),
    rings: { FunctionThrottled: 3, UrlFailing: 6 },
  },
};
