import { decidePod } from '../injection/decide-pod.ts';
import { isMap } from '../injection/lists.ts';
import { answerTo, typed, type InjectorContext } from './injector.ts';
import { allowed, type AdmissionRequest, type Answer } from './review.ts';
import { isWellFormed } from './well-formed.ts';

/** Decides one review of a pod: a pure function of the review and of what the operator knows. It always allows. */
export function reviewPod(request: AdmissionRequest, context: Pick<InjectorContext, 'injector' | 'policy'>): Answer {
  const { operation, object, namespace = '' } = request;
  if (operation !== 'CREATE' || !object) return allowed('Pods are injected as they are created, and never after');
  const pod = readable(typed(object, request), namespace);
  if (!isWellFormed(pod)) return allowed('The object is none that an API server sends; it will not be mutated');
  return answerTo(decidePod({ pod, policy: context.policy(namespace), injector: context.injector }), pod);
}

/** Without what grows and says nothing of the pod. Its name may be missing still, its namespace as well. */
function readable(object: unknown, namespace: string): unknown {
  if (!isMap(object) || !isMap(object['metadata'])) return object;
  const { managedFields: _fields, ...metadata } = object['metadata'];
  return { ...object, metadata: { ...metadata, namespace } };
}
