/** The cookie of what somebody typed. */
import { type CookieHandle, createCookie } from 'authkernel/kernel'

/** How long it is kept. */
export const seconds = 300

/** Sealed: a name is nobody's business, and nobody may plant one. */
export const typedCookie: CookieHandle = /* @__PURE__ */ createCookie('typed', { path: 'base', maxAge: seconds })
