import { Config } from '@pulumi/pulumi';
import { LumigoOperator } from './component.ts';

/** `pulumi up`: the operator as a stack, one per cluster, whose configuration has the settings. */
const config = new Config();
const operator = new LumigoOperator('lumigo', {
  settings: config.getObject('settings'),
  lumigoToken: config.getSecret('lumigoToken'),
});

export const { version, namespace, deployment, telemetryProxyUrl, monitoredNamespaces, certificateExpires } = operator;
