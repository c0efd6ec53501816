/** What weakens a check must be imported by name. */

/**
 * `[acceptSha1]: true` in a SAML provider accepts signatures and digests with SHA-1. Only for an identity provider that cannot do better: an
 * attacker who computes collisions may forge what it signs.
 */
export const acceptSha1: unique symbol = Symbol.for('authkernel.saml.acceptSha1')
