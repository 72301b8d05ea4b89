/** The credentials that a program finds to sign requests with. */
export interface FoundCredentials {
  readonly accessKeyId: string;
  readonly sessionToken?: string | undefined;
  readonly expiration?: Date | undefined;
  /** The links of the chain that found them, as the SDK notes them. */
  readonly $source?: object | undefined;
}

/** Kinds and times of credentials, without their values or anything that they could be guessed from. */
export interface CredentialsReport {
  /** The variables set, of those that credentials can come from. */
  readonly variables: readonly string[];
  readonly found: boolean;
  readonly foundBy: readonly string[];
  readonly temporary: boolean;
  /** Undefined if their source does not say. */
  readonly expiresInSeconds?: number | undefined;
  /** Whether they have changed since the process started. */
  readonly renewed: boolean;
  /** How long the process has been running. */
  readonly uptimeSeconds: number;
}

const variables = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CREDENTIAL_EXPIRATION',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_ROLE_ARN',
  'AWS_PROFILE',
];

interface World {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly findCredentials: () => Promise<FoundCredentials>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Looks once at the start, and again whenever it is asked. */
export function createDescribeCredentials({ environment, findCredentials, now }: World) {
  const startedAt = now();
  const look = () => findCredentials().catch(() => undefined);
  const first = look();

  return async (): Promise<CredentialsReport> => {
    const [before, current] = [await first, await look()];
    const expiration = current?.expiration?.getTime();
    return {
      variables: variables.filter((name) => environment[name]),
      found: current !== undefined,
      foundBy: Object.keys(current?.$source ?? {}),
      temporary: current?.sessionToken !== undefined,
      ...(expiration !== undefined && { expiresInSeconds: Math.round((expiration - now()) / 1000) }),
      renewed: before?.accessKeyId !== current?.accessKeyId,
      uptimeSeconds: Math.round((now() - startedAt) / 1000),
    };
  };
}
