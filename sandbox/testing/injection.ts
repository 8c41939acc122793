import type { InjectionSettings, InjectorSettings, TracingSettings } from '../../runtime/injection/types.ts';

/** What an installation injects. */
export const injector: InjectorSettings = {
  version: '2.0.0',
  image: 'autotrace:2',
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: [],
  endpoint: 'http://proxy',
  platform: 'kubernetes',
};

/** The same installation, before it was upgraded. */
export const older: InjectorSettings = { ...injector, version: '1.0.0', image: 'autotrace:1' };

export const tracing: TracingSettings = { secretName: 's', secretKey: 'k', traces: true, logs: false };

/** What the older one injects where a Lumigo asks for it, with a pull secret to be added. */
export const settings: InjectionSettings = { ...older, imagePullSecrets: ['registry'], ...tracing };
