import { Config } from '@pulumi/pulumi';
import { LumigoOperator } from './pulumi-component.ts';

/** `pulumi up`: the operator as a stack, one per cluster, whose configuration has the settings. */
const operator = new LumigoOperator('lumigo', { settings: new Config().getObject('settings') });

export const { namespace, deployment, telemetryProxyUrl, monitoredNamespaces } = operator;
