import { injector } from '../../runtime/contract.ts';
import { injectorMount } from '../../runtime/injection/init-container.ts';
import { initResources } from '../../runtime/injection/init-resources.ts';
import { all, any, sameExcept, sameItemsBut, text, type Cel } from '../constructs/cel.ts';
import { isOnOurPath, getMounts, plainInitContainer } from '../constructs/injected.ts';
import { isMount } from './record-rules.ts';
import { hasShape, Optional, type Shape } from './shape.ts';

export const isOurVolume = (item: Cel): Cel => `(${item}.name == ${text(injector.volume)})`;
const isOurMount = (mount: Cel): Cel => any(isOurVolume(mount), isOnOurPath(mount));

/** Returns the conditions that two lists have the same containers in the same order, which differ in environment and mounts only. */
export const sameContainers = (list: Cel, former: Cel): readonly Cel[] => [
  `${list}.map(container, container.name) == ${former}.map(container, container.name)`,
  eachPair(list, former, sameExcept('container', 'before', ['env', 'volumeMounts'])),
];

export const eachPair = (list: Cel, former: Cel, condition: Cel): Cel =>
  `${list}.all(container, ${former}.exists(before, ${all('before.name == container.name', condition)}))`;

/** The condition that mounts of the operator are added or removed, and that a mount which one replaced is restored. */
export const appMounts: Cel = all(
  sameItemsBut(getMounts('container'), getMounts('before'), isOurMount),
  `${getMounts('container')}.filter(mount, ${isOurMount('mount')}).all(mount, ${any(
    `mount in ${getMounts('before')}`,
    hasShape('mount', { ...injectorMount } as Shape),
    `variables.replacedMountsBefore.exists(json, ${isMount('json', 'mount')})`,
  )})`,
);

/** Returns the form of the injector's init container. OpenShift sets some fields of the security context itself. */
export function injectorShape(): Shape {
  const { securityContext, resources: _resources, ...fixed } = plainInitContainer();
  const required = plainInitContainer('openshift').securityContext ?? {};
  const context = Object.entries({ ...securityContext }).map(([key, value]) => [
    key,
    key in required ? value : new Optional(key === 'runAsUser' ? (path) => `${path} > 0` : (value as never)),
  ]);
  return {
    ...(fixed as unknown as { readonly [key: string]: Shape }),
    image: (path) => `${path} == variables.image`,
    imagePullPolicy: (path) => `${path} == variables.imagePullPolicy`,
    securityContext: Object.fromEntries(context) as Shape,
    resources: new Optional({ limits: new Optional(areRequested), requests: new Optional(areSmall) }),
  };
}

const largest = initResources({
  containers: [{ name: '', resources: { requests: { cpu: '1M', memory: '1E', 'ephemeral-storage': '1E' } } }],
}).requests as Readonly<Record<string, string>>;

/** A limit without a request would also be a request. */
const areRequested = (limits: Cel): Cel =>
  `${limits}.all(resource, resource in container.resources.?requests.orValue({}))`;

const areSmall = (requests: Cel): Cel =>
  `${requests}.all(resource, ${any(
    ...Object.entries(largest).map(
      ([resource, most]) =>
        `resource == ${text(resource)} && quantity(string(${requests}[resource])).compareTo(quantity(${text(most)})) <= 0`,
    ),
  )})`;
