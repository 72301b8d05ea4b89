import { changeEnvironment } from '../../local/local-settings.ts';
import { CommandError } from '../command-line.ts';
import { openStack } from '../open-stack.ts';
import { createEnvFile } from './env-file.ts';
import type { Store } from './store.ts';

interface Wanted {
  readonly stack?: string | undefined;
  readonly region?: string | undefined;
  readonly file?: string | undefined;
}

/** Opens a stack's secret or a host's file. Sets environment variables for the SDK's clients. */
export async function openStore({ stack = '', region, file }: Wanted): Promise<Store> {
  if (file !== undefined) return createEnvFile(file);
  if (region !== undefined) changeEnvironment({ AWS_REGION: region });
  const { outputs, needed } = await openStack(stack);
  if (outputs.GatewayUrl !== undefined && outputs.UpstreamSecret === undefined)
    throw new CommandError(`${stack} has no secret for keys: with UPSTREAM_AUTH aws its upstreams need none`);
  const { SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const { createStackSecret } = await import('./stack-secret.ts');
  return createStackSecret(new SecretsManagerClient({}), needed('UpstreamSecret'));
}
