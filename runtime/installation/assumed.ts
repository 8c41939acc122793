import { assumedSettings, type InjectionConfig } from '../config/config.ts';
import { programVersion } from '../config/version.ts';
import { suffixes } from '../contract.ts';

export const assumedInstallation = {
  operatorName: 'lumigo-lumigo-operator',
  operatorNamespace: 'lumigo-system',
  injectorImage: 'public.ecr.aws/lumigo/lumigo-autotrace:latest',
} as const;

const { operatorName, operatorNamespace, injectorImage } = assumedInstallation;

export const assumedConfig: InjectionConfig = {
  ...assumedSettings,
  version: programVersion,
  operatorNamespace,
  injectorImage,
  telemetryProxyUrl: `http://${operatorName}${suffixes.telemetryProxyService}.${operatorNamespace}.svc.cluster.local`,
};
