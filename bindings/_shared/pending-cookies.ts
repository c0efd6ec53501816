/** Cookies for a response that is made later: what is read on the way may extend a session. */
import type { Awaitable } from 'authkernel/kernel'

/** The cookies by the object that stands for the request. */
export interface PendingCookies<K extends object> {
  /** Runs `answer`, and adds to its response the cookies that came up meanwhile. */
  collect(key: K, answer: () => Awaitable<Response>): Promise<Response>
  /** Keeps the Set-Cookie headers; without a response to come they are dropped. */
  add(key: K, headers: Headers): void
  /** Whether a response is to come. */
  isOpen(key: K): boolean
}

/** Keeps cookies until the response is there. */
export function createPendingCookies<K extends object>(): PendingCookies<K> {
  const pending = new WeakMap<K, Headers>()
  return {
    isOpen: (key) => pending.has(key),
    add(key, headers) {
      for (const cookie of headers.getSetCookie()) pending.get(key)?.append('set-cookie', cookie)
    },
    async collect(key, answer) {
      // Inside another one: its response carries them.
      if (pending.has(key)) return answer()
      const headers = new Headers()
      pending.set(key, headers)
      try {
        return addResponseCookies(await answer(), headers)
      } finally {
        pending.delete(key)
      }
    },
  }
}

function addResponseCookies(response: Response, headers: Headers): Response {
  const cookies = headers.getSetCookie()
  if (cookies.length === 0) return response
  // Responses may be immutable.
  const copy = new Response(response.body, response)
  for (const cookie of cookies) copy.headers.append('set-cookie', cookie)
  return copy
}
