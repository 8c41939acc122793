// Pulumi installs the operator and traces the namespace "shop". Set the token before: pulumi config set --secret lumigoToken
import { Config } from '@pulumi/pulumi';
import { LumigoOperator, TracedNamespace } from 'lumigo-kubernetes-operator/pulumi';

const operator = new LumigoOperator('lumigo', { settings: { cluster: { name: 'production' } } });

new TracedNamespace(
  'shop',
  { namespace: 'shop', lumigoToken: new Config().requireSecret('lumigoToken') },
  { dependsOn: operator },
);
