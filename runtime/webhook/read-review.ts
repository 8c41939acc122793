import { isObject } from '../api/pod-template.ts';
import { flag, form, text } from '../json/form.ts';
import { orUndefined } from '../json/values.ts';
import type { Workload } from '../api/objects.ts';
import { findTemplate, toTemplate } from '../injection/workload.ts';
import { limits, tooCostly, type Body, type Refusal } from './body.ts';
import { reviewType, type AdmissionRequest } from './review.ts';

/** Omits objects of another form: a megabyte of text as labels would become a megabyte of entries. */
export function readReview(body: Body): AdmissionRequest | Refusal {
  if ('status' in body) return body;
  const { bytes, length } = body;
  const unread = tooCostly(bytes, length);
  if (unread !== undefined) return readHead(bytes, unread);
  const review = orUndefined(() => JSON.parse(bytes.toString()) as unknown);
  if (!isReview(review))
    return { status: 400, message: `this webhook reads only ${reviewType.apiVersion} AdmissionReview, with a uid` };
  const { uid, namespace, operation, userInfo, dryRun, ...sent } = review.request;
  const object = isWorkload(sent.object) ? sent.object : undefined;
  const oldObject = isWorkload(sent.oldObject) ? sent.oldObject : undefined;
  return { uid, namespace, operation, userInfo, dryRun, object, oldObject };
}

const HEAD = /^\s*\{[^{}]{0,200}"request"\s*:\s*\{\s*"uid"\s*:\s*"([-0-9A-Za-z]{1,64})"/;

/** No user can forge this, because free text comes later and quotation marks in names are escaped. */
const PLACE = /"namespace"\s*:\s*"([-a-z0-9]{1,63})"\s*,\s*"operation"\s*:\s*"(CREATE|UPDATE|DELETE|CONNECT)"/;

function readHead(bytes: Buffer, unread: string): AdmissionRequest | Refusal {
  const head = bytes.toString('latin1', 0, limits.head);
  const uid = HEAD.exec(head)?.[1];
  if (uid === undefined)
    return { status: 413, message: `the review is too large (${unread}), and its uid is not at its head` };
  const [, namespace, operation] = PLACE.exec(head) ?? [];
  return { uid, namespace, operation, unread };
}

type Review = {
  readonly request: Omit<AdmissionRequest, 'object' | 'oldObject'> & Record<'object' | 'oldObject', unknown>;
};

const isReview = form({
  apiVersion: (value) => value === reviewType.apiVersion,
  kind: (value) => value === reviewType.kind,
  request: form(
    { uid: text },
    { namespace: text, operation: text, userInfo: form({}, { username: text }), dryRun: flag },
  ),
}) as (value: unknown) => value is Review;

const isWorkload = (object: unknown): object is Workload =>
  isObject(object) && findTemplate(object as Workload) === toTemplate(object as Workload);
