import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { shareDescriptors } from './engines/descriptors.ts';
import { type HttpServer, startHttpServer } from './engines/http-server.ts';
import { createGatewayWithWallet } from './gateway-with-wallet.ts';
import { createLog } from './report/log.ts';
import type { Config } from './settings/config.ts';
import type { Repeat } from './settings/secrets.ts';
import type { ServerConfig } from './settings/server-config.ts';
import type { Aws } from './store/aws.ts';
import { createGiveUp } from './store/give-up.ts';
import type { PageFile } from './wallet/page-files.ts';

/** What the server needs of the world. */
export interface ServerWorld extends Aws {
  readonly dynamoDb: DynamoDBClient;
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly writeLog: (line: string) => void;
  readonly now: () => number;
  readonly repeat: Repeat;
}

/** Serves the gateway and the wallet's pages over HTTP, out of one process. */
export async function startServer(config: Config, server: ServerConfig, world: ServerWorld): Promise<HttpServer> {
  const { clients, upstreams } = shareDescriptors();
  const { call: callDynamoDb, giveUp } = createGiveUp(world.callDynamoDb);
  const log = createLog({ ...config, write: world.writeLog, now: world.now });
  return startHttpServer({
    ...server,
    app: createGatewayWithWallet(config, { ...world, callDynamoDb, scheme: server.scheme, upstreamSockets: upstreams }),
    requestBodyLimit: config.requestBodyLimit,
    maxConnections: clients,
    // A refund that is given up leaves its charge standing, and is logged as that.
    onLastMoment: giveUp,
    onFault: (error) => log.fault('fault past the app', error),
  });
}
