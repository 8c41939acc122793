import { largestRequests } from '../../../runtime/injection/init-resources.ts';
import { parseQuantity } from '../../../runtime/injection/quantity.ts';
import { fieldOr, text, type Cel } from '../cel.ts';
import { Maybe } from './json.ts';
import type { Expressions } from '../admission.ts';

const rows = [
  { resource: 'cpu', as: 'cpu', perUnit: '* 1000.0', suffix: 'm' },
  { resource: 'memory', as: 'memory', perUnit: '/ 1048576.0', suffix: 'Mi' },
  { resource: 'ephemeral-storage', as: 'storage', perUnit: '/ 1048576.0', suffix: 'Mi' },
] as const;

const amount = (quantity: Cel): Cel => `quantity(${quantity}).asApproximateFloat()`;
const ofContainer = (container: Cel, list: 'requests' | 'limits', resource: string): Cel =>
  `${container}.?resources.${list}[?${text(resource)}]`;

/** Returns the largest request and limit of a resource among the app containers, scaled down as by `initResources`. */
function getVariables({ resource, as, perUnit, suffix }: (typeof rows)[number]): Expressions {
  const largest = largestRequests[resource];
  const most = parseQuantity(largest) ?? 0;
  const at = (name: string): Cel => `variables.${as}${name}`;
  const scaled = `${amount(at('Limit'))} / ${at('Amount')} * double(${most}) ${perUnit}`;
  const small = `quantity(${at('Request')}).compareTo(quantity(${text(largest)})) <= 0`;
  const equal = `quantity(${at('Limit')}).compareTo(quantity(${at('Request')})) == 0`;
  return {
    [`${as}Requests`]: `variables.containers.map(container, string(${ofContainer('container', 'requests', resource)}.or(${ofContainer('container', 'limits', resource)}).orValue('')))`,
    [`${as}Amounts`]: `${at('Requests')}.map(request, request == '' ? -1.0 : ${amount('request')})`,
    [`${as}Amount`]: `${at('Amounts')}.max()`,
    [`${as}Largest`]: `${at('Amounts')}.indexOf(${at('Amount')})`,
    [`${as}Request`]: `${at('Requests')}[${at('Largest')}]`,
    [`${as}Limit`]: `string(${ofContainer(`variables.containers[${at('Largest')}]`, 'limits', resource)}.orValue(''))`,
    [`${as}InitRequest`]: `${at('Request')} == '' || ${small} ? ${at('Request')} : ${text(largest)}`,
    [`${as}InitLimit`]: [
      `${at('Limit')} == '' || ${small} ? ${at('Limit')} :`,
      `${equal} ? ${text(largest)} :`,
      // A product of two quantities can be slightly below the exact whole number.
      `string(int(${scaled} + 0.000001)) + ${text(suffix)}`,
    ].join('\n'),
  };
}

export const resourceVariables: Expressions = Object.assign({}, ...rows.map(getVariables)) as Expressions;

const list = (name: string): Readonly<Record<string, Maybe>> =>
  Object.fromEntries(
    rows.map(({ resource, as }) => [resource, new Maybe(`variables.${as}${name} != ''`, `variables.${as}${name}`)]),
  );

export const initResources = { requests: list('InitRequest'), limits: list('InitLimit') };

const storage = (container: Cel): Cel => ofContainer(container, 'limits', 'ephemeral-storage');
const room = (container: Cel): Cel => amount(`string(${storage(container)}.orValue('0'))`);

/** As in `reasonOfStorage`: the limits of each init container with the sidecars before it, and of the running pod. */
export const storageVariables: Expressions = {
  limitsStorage: `(variables.containers + variables.initContainers).exists(container, ${storage('container')}.hasValue())`,
  sidecarStorage: `variables.initContainers.map(init, ${fieldOr('init', 'restartPolicy', "''")} == 'Always' ? ${room('init')} : 0.0)`,
  storageLimits: `variables.initContainers.transformList(index, init, ${room('init')} + variables.sidecarStorage.transformList(place, limit, place < index, limit).sum()) + [variables.containers.map(container, ${room('container')}).sum() + variables.sidecarStorage.sum()]`,
};
