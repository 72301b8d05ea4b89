import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { shareDescriptors } from './engines/descriptors.ts';
import { type HttpServer, startHttpServer } from './engines/http-server.ts';
import { createGateway } from './gateway.ts';
import { createGatewayWithWallet } from './gateway-with-wallet.ts';
import { createLog, type WriteLog } from './report/log.ts';
import type { Config } from './settings/config.ts';
import type { Repeat } from './settings/refreshed.ts';
import type { ServerConfig } from './settings/server-config.ts';
import type { Aws } from './store/aws.ts';
import { createGiveUp } from './store/give-up.ts';
import type { PageFile } from './wallet/page-files.ts';

/** What the server needs from outside. */
export interface ServerWorld extends Aws {
  readonly dynamoDb: DynamoDBClient;
  readonly pageFiles: ReadonlyMap<string, PageFile>;
  readonly writeLog: WriteLog;
  readonly now: () => number;
  readonly repeat: Repeat;
}

/** Serves the gateway over HTTP, and the wallet's page out of the same process where it has none of its own. */
export async function startServer(config: Config, server: ServerConfig, world: ServerWorld): Promise<HttpServer> {
  const { clients, upstreams } = shareDescriptors();
  const { call: callDynamoDb, giveUp } = createGiveUp(world.callDynamoDb);
  const log = createLog({ ...config, write: world.writeLog, now: world.now });
  const createApp = server.servesWallet ? createGatewayWithWallet : createGateway;
  return startHttpServer({
    ...server,
    app: createApp(config, { ...world, callDynamoDb, scheme: server.scheme, upstreamSockets: upstreams }),
    requestBodyLimit: config.requestBodyLimit,
    maxConnections: clients,
    // A refund that is given up leaves its charge standing, and is logged as such.
    onLastMoment: giveUp,
    onFault: (error) => log.fault('fault past the app', error),
  });
}
