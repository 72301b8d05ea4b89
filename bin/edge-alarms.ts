// npx cdk deploy --app 'node bin/edge-alarms.ts' -c stage=prod -c distribution=ID: alarms on CloudFront, in us-east-1.
import { App, Validations } from 'aws-cdk-lib';
import featureFlags from 'aws-cdk-lib/recommended-feature-flags.json' with { type: 'json' };
import { AwsSolutionsChecks } from 'cdk-nag';
import { readDeploymentConfig } from '../lib/config.ts';
import { dropCleanReport } from '../lib/drop-clean-report.ts';
import { EdgeAlarmsStack } from '../lib/edge-alarms-stack.ts';

const app = new App({ context: featureFlags });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
const distributionId: unknown = app.node.tryGetContext('distribution');
if (typeof distributionId !== 'string' || !/^E[A-Z0-9]{8,}$/.test(distributionId)) {
  console.error('-c distribution= must be the id of the distribution, as the output EdgeDistribution has it');
  process.exit(1);
}
const config = readDeploymentConfig(app.node.tryGetContext('gateway'), app.node.tryGetContext('stage'));
new EdgeAlarmsStack(app, 'EdgeAlarms', { config, distributionId });
app.synth();
dropCleanReport(app.outdir);
