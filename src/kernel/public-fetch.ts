/** `createPublicFetch`, whose code is loaded by the first document that a plugin reads. */
import type { PublicFetch, PublicFetchOptions } from '../contract/services.ts'
import { lazily, lazyObject } from '../runtime/lazy.ts'

const loadFetch = /* @__PURE__ */ lazily(() => import('../runtime/public-fetch.ts'))

/** A service `publicFetch` with options of the host. Throws TypeError for an `allow` that is no network, at the first call. */
export function createPublicFetch(options: PublicFetchOptions = {}): PublicFetch {
  return lazyObject(['get', 'send'], loadFetch, ({ createPublicFetch: create }) => create(options))
}
