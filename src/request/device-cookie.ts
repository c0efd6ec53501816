/** The cookie of known browsers, which the kernel registers; what it holds is in `known-device.ts`, with the cryptography. */
import type { CookieHandle } from '../contract/cookie.ts'
import { createCookie } from '../http/cookie-handle.ts'

/** How long a browser is remembered. */
export const deviceSeconds: number = 180 * 24 * 60 * 60

export const knownDeviceCookie: CookieHandle = /* @__PURE__ */ createCookie('known-device', { path: 'base', maxAge: deviceSeconds })
