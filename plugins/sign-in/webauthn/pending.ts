/** The cookie of ceremonies under way. Registering the provider type needs no more of them. */
import { createPending, type PendingList, type User } from 'authkernel/kernel'

/** A signed-in user by id, or what is known of a new one. */
export type Registration = { userId: string } | { user: User }

/** A ceremony that has begun; its id is the challenge. */
export interface Ceremony {
  provider: string
  /** Whose passkey is being registered. */
  register?: Registration
  /** The user handle of the new passkey, in base64url. */
  handle?: string
  /** The browser makes the passkey without a question, because the user has just signed in with a password: the device asks for no touch. */
  conditional?: true
}

const lifetime = 900

/** Registered by the plugin with `kernel.pending`. */
export const challenges: PendingList<Ceremony> = /* @__PURE__ */ createPending<Ceremony>('challenge', {
  seconds: lifetime,
  cookie: { key: 'webauthnChallenge', prefix: 'secure' },
})
