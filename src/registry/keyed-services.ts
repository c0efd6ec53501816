/** Services that keep something by key: the key carries the tenant, as values in the store do. */
import type { Limit, Once } from '../contract/services.ts'
import { encodeKey } from '../store/namespaces.ts'
import { overlay } from './overlay.ts'

/** The service for one namespace; the same object where the name stands for one without keys. */
export function keyed(name: string, service: unknown, namespace: string): unknown {
  const key = (plain: string): string => encodeKey(namespace, plain)
  if (name === 'once') {
    const once = service as Once
    return overlay<Once>(once, { take: (plain, seconds) => once.take(key(plain), seconds), taken: (plain) => once.taken(key(plain)) })
  }
  if (name === 'limit') {
    const limit = service as Limit
    return overlay<Limit>(limit, { take: (plain, rule) => limit.take(key(plain), rule), refund: (plain) => limit.refund(key(plain)) })
  }
  return service
}
