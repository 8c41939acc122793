import { LumigoOperator } from './component.ts';
import { readConfiguration } from './configuration.ts';

/** `pulumi up`: the operator as a stack, one per cluster. */
const operator = new LumigoOperator('lumigo', readConfiguration());

export const { version, namespace, deployment, telemetryProxyUrl } = operator;
