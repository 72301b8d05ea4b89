import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { waysToSignIn } from '../lambda/settings/config.ts';
import { accountsSettings } from '../lambda/settings/definitions.ts';
import type { DeploymentConfig } from './config.ts';
import { type GatewayProps, sharedEnvironment } from './gateway-function.ts';
import { PublicFunction, type Right, toRead } from './own-function.ts';
import { accountsShareOf } from './stack-settings.ts';

interface AccountsFunctionProps extends GatewayProps {
  /** Shown on the page. The gateway can't be given this function's URL in turn: that would be a circular dependency. */
  readonly gatewayUrl: string;
}

/** Serves /cli, and is the only function that may write keys and links. */
export class AccountsFunction extends PublicFunction {
  /** Whether people can sign in at all, by wallet or with an OIDC provider. */
  readonly signsIn: boolean;
  /** The pages' own URL, if it is known. The device flow sends people to no other. */
  readonly appUrl: string | undefined;

  constructor(scope: Construct, id: string, props: AccountsFunctionProps) {
    const { config, tables, secrets, gatewayUrl } = props;
    const { environment, edge, edgeDomainName } = config;
    // Behind the edge both functions share its domain. If that is CloudFront's own, only the operator can set it.
    const appUrl = environment.APP_URL ?? (edgeDomainName && `https://${edgeDomainName}`);
    const shownUrl = environment.GATEWAY_URL ?? (edge ? undefined : gatewayUrl);
    const { notOffered } = config.settings.service;
    const signsIn = waysToSignIn(config.settings.accounts).length > 0;
    const accounts: Right[] = [
      [tables.keys.tableArn, 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
      [tables.quota.tableArn, 'dynamodb:GetItem', 'dynamodb:UpdateItem'],
    ];
    super(scope, id, {
      ...props,
      description: 'Private inference gateway: keys for its members',
      memorySize: 512, // the memorySize setting is for large bodies, which this function never gets
      timeout: Duration.seconds(30), // a few requests to the tables, of 2 s each at most
      reservedConcurrency: accountsShareOf(config),
      environment: {
        ...settingsOf(environment),
        ...(notOffered.length > 0 && { NOT_OFFERED: notOffered.join(',') }),
        ...(appUrl && { APP_URL: appUrl }),
        ...(secrets.oidc && { OIDC_CLIENT_SECRET_ID: secrets.oidc.secretArn }),
        ...(shownUrl && { GATEWAY_URL: shownUrl }),
        ...sharedEnvironment(scope, props),
      },
      // Where nobody can sign in, the pages need no table.
      rights: [...(signsIn ? accounts : []), ...toRead(secrets.networkSalt, secrets.edge, secrets.oidc)],
    });
    this.appUrl = appUrl;
    this.signsIn = signsIn;
  }
}

/** The operator's settings that this function reads and that have an effect, so that changing any other does not redeploy it. */
function settingsOf(environment: DeploymentConfig['environment']): Record<string, string> {
  const { OIDC_ISSUER, EDGE_HEADER } = environment;
  const isIdle = (name: string) => (name.startsWith('OIDC_') && !OIDC_ISSUER) || (name === 'EDGE_ONLY' && !EDGE_HEADER);
  const read = Object.entries(environment).filter(([name]) => Object.hasOwn(accountsSettings, name) && !isIdle(name));
  return Object.fromEntries(read);
}
