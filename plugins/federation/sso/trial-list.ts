/** Test sign-ins that this browser has under way. */
import { createPending, type PendingList } from 'authkernel/kernel'

/** One test sign-in; its id is the id of the row. */
export interface PendingTrial {
  /** Id of the connection. */
  connection: string
  /** Where the result is shown: a URL of this app. */
  returnTo: string
}

/** Seconds that a test sign-in may take. */
const trialLifetime = 900

/** The answer of SAML is a cross-site POST, which brings no Lax cookie. */
export const trials: PendingList<PendingTrial> = /* @__PURE__ */ createPending<PendingTrial>('sso-trial', {
  seconds: trialLifetime,
  max: 3,
  crossSite: () => true,
})
