import { Secret, type SecretProps } from 'aws-cdk-lib/aws-secretsmanager';
import { RemovalPolicy, SecretValue, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';

interface SecretsProps {
  /** Whether any upstream needs stored API keys. */
  readonly upstream: boolean;
  /** Whether a CDN authenticates itself with a secret. */
  readonly edge: boolean;
  /** Whether there is a canary, which uses a key that the operator issues. */
  readonly canary: boolean;
  /** Whether people sign in with OIDC. */
  readonly oidc: boolean;
}

/**
 * The gateway's secrets, which outlive the stack. Never change how a deployed secret gets its value: CloudFormation would
 * overwrite what an operator or the generator has put there.
 */
export class Secrets extends Construct {
  /**
   * The upstream's keys. Until the operator fills them in, every inference request is answered 503 `unconfigured`, so nothing is
   * sent to the example upstream of cdk.json. Undefined if no upstream needs keys.
   */
  readonly upstream: Secret | undefined;
  /** Keys the hashes of network addresses. With another salt, every guest counter and every link would be lost. */
  readonly networkSalt: Secret;
  /** Authenticates the CDN. */
  readonly edge: Secret | undefined;
  /** The canary's key; empty until the operator has issued one. */
  readonly canary: Secret | undefined;
  /** The OIDC client secret; blank until the operator has filled it in. */
  readonly oidc: Secret | undefined;

  constructor(scope: Construct, id: string, { upstream, edge, canary, oidc }: SecretsProps) {
    super(scope, id);
    const nothingYet = SecretValue.unsafePlainText('');
    const random = { generateSecretString: { passwordLength: 64, excludePunctuation: true } };
    if (upstream) {
      this.upstream = createSecret(this, 'Upstream', 'Keys of the upstream, separated by commas', {
        secretObjectValue: { UPSTREAM_API_KEYS: nothingYet },
      });
    }
    // The operator rotates keys by hand, and generated secrets must not rotate by themselves: see docs/operations.md.
    const reason =
      'Keys are issued elsewhere; a new salt would lose every guest counter and link; the CDN has to be told.';
    Validations.of(this).acknowledge({ id: 'AwsSolutions::AwsSolutions-SMG4', reason });
    this.networkSalt = createSecret(this, 'NetworkSalt', 'Salt that network addresses are hashed with', random);
    if (canary) {
      this.canary = createSecret(this, 'Canary', 'Key of the canary, as keys issue --json prints it', {
        secretObjectValue: { key: nothingYet },
      });
    }
    if (oidc) {
      const description = 'What the provider of OpenID Connect has given to this gateway as its secret';
      this.oidc = createSecret(this, 'OidcClient', description, {
        secretStringValue: SecretValue.unsafePlainText(' '),
      });
    }
    if (edge) this.edge = createSecret(this, 'Edge', 'Proof of the CDN in front of the gateway', random);
  }
}

function createSecret(scope: Construct, id: string, description: string, value: SecretProps): Secret {
  return new Secret(scope, id, { description, ...value, removalPolicy: RemovalPolicy.RETAIN });
}
