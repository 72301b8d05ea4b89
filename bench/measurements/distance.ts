import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { makeCertificate } from '../../local/certificate.ts';
import type { Measurement } from '../measurement.ts';
import { startSession } from '../session.ts';
import { chatOf } from '../world/conversation.ts';
import { startRemote } from '../world/distance.ts';

/** Round-trip times in milliseconds. */
const roundTrips = { tables: 2, secrets: 5, upstream: 60 } as const;
/** A round trip for TCP, and one for TLS 1.3. */
const handshake = 2 * roundTrips.upstream;
const idleFor = 90_000;

/** The first request of a cold function, and of an idle one, where every service is remote and behind TLS. */
export const distance: Measurement = {
  rounds: 2,
  subjects: ['gateway'],
  figures: [
    ['all at a distance: cold start to first byte', 'ms', 'cold'],
    ['the same, to what can’t be avoided', '×', 'coldRatio'],
    ['the same, where the upstream is connected to once the key is known', '×', 'coldByRule'],
    ['all at a distance: first byte after 90 s of idleness', 'ms', 'idle'],
    ['the same, to what can’t be avoided', '×', 'idleRatio'],
  ],
  async run(subject, world) {
    await world.play({ kind: 'whole' });
    const certificate = makeCertificate();
    await using folder = await mkdtempDisposable(join(tmpdir(), 'distance-'));
    const trusted = join(folder.path, 'certificate.pem');
    await writeFile(trusted, certificate.cert);
    const { AWS_ENDPOINT_URL_DYNAMODB: near, AWS_ENDPOINT_URL_SECRETS_MANAGER: nearSecrets } = world.environment;
    await using tables = await startRemote(near, roundTrips.tables, certificate);
    await using secrets = await startRemote(nearSecrets, roundTrips.secrets, certificate);
    await using upstream = await startRemote(world.upstreamUrl, roundTrips.upstream, certificate);
    const environment = {
      ...subject.environment,
      AWS_ENDPOINT_URL_DYNAMODB: tables.url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
      UPSTREAM_BASE_URL: upstream.url,
      NODE_EXTRA_CA_CERTS: trusted,
    };
    await using session = await startSession({ ...subject, environment }, world);
    const body = chatOf(500, false);
    const { firstByteAt } = await session.ask(body);
    const [cold, init] = [firstByteAt - session.spawnedAt, (await session.ready) - session.spawnedAt];
    await setTimeout(idleFor);
    for (const one of [tables, secrets, upstream]) one.closeConnections();
    await setTimeout(100);
    const later = await session.ask(body);
    const idle = later.firstByteAt - later.askedAt;
    const requests = roundTrips.tables + roundTrips.upstream;
    const leastOf = (started: number) => Math.max(started, handshake) + requests;
    return {
      cold: [cold],
      coldRatio: [cold / leastOf(init)],
      coldByRule: [cold / (init + handshake + requests)],
      idle: [idle],
      idleRatio: [idle / leastOf(0)],
    };
  },
};
