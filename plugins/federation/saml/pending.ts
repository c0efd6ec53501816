/** What the browser keeps while the user is at the identity provider. */
import { createCookie, createPending, type CookieHandle, type PendingList } from 'authkernel/kernel'

/** What a step-up demands of the answer. */
export interface StepUp {
  /** The account of the session. */
  sub: string
  /** Seconds that the proof may be old. */
  maxAge: number
  /** Classes, of which the answer must name one. */
  acr?: readonly string[]
}
/** One request; its id is the ID of the AuthnRequest. */
export interface PendingRequest {
  provider: string
  callbackUrl: string
  /** Who was signed in. */
  by?: string
  /** It began with a session, whose cookie a cross-site POST does not bring. */
  session?: boolean
  stepUp?: StepUp
}
/** A logout that the identity provider confirms. */
export interface PendingLogout {
  provider: string
  callbackUrl: string
  /** The request, where a page of authkernel posts it. */
  xml?: string
}
/** How the identity provider calls the user and the session, for a logout request. */
export interface SessionName {
  provider: string
  sub: string
  nameId: string
  format: string
  idp?: string
  sp?: string
  index?: string
}

/** Seconds that a user may take at the identity provider. */
export const requestLifetime = 900

/** Answers come by a cross-site POST, which brings no Lax cookie. */
export const requests: PendingList<PendingRequest> = /* @__PURE__ */ createPending<PendingRequest>('saml', {
  seconds: requestLifetime,
  crossSite: () => true,
})
export const logouts: PendingList<PendingLogout> = /* @__PURE__ */ createPending<PendingLogout>('saml-logout', {
  seconds: requestLifetime,
  crossSite: () => true,
})
export const sessionName: CookieHandle = /* @__PURE__ */ createCookie('saml-session', { path: 'base' })
