/**
 * Markers that must be imported by name: each of them weakens a check or replaces a part, so none is a quiet boolean. The only values of this folder.
 * They are registered symbols, so that two copies of this package in one process agree on them.
 */

/** Replaces `fetch` for one provider: `{ ..., [customFetch]: myFetch }` (row 207). */
export const customFetch: unique symbol = /* @__PURE__ */ Symbol.for('authkernel.customFetch')
/** `createAuth({ skipCSRFCheck })` switches the CSRF check off. Your app must protect its forms itself (row 45). */
export const skipCSRFCheck: unique symbol = /* @__PURE__ */ Symbol.for('authkernel.skipCSRFCheck')
/** `createAuth({ raw })`: `AuthError`s are thrown to the caller, as `auth.dispatch` does (row 27). */
export const raw: unique symbol = /* @__PURE__ */ Symbol.for('authkernel.raw')
/** `{ ..., [allowInsecureRequests]: true }`: a provider on plain http that is not on loopback (D9). */
export const allowInsecureRequests: unique symbol = /* @__PURE__ */ Symbol.for('authkernel.allowInsecureRequests')
/** Marks the message of a pipe hook: what `ctx.ask` answers when no handler had an opinion, instead of the carried field. */
export const noAnswer: unique symbol = /* @__PURE__ */ Symbol.for('authkernel.unanswered')
/** Set, not enumerable, on what a sealer opened with another key than the one it seals with now: time to seal it again. */
export const outdatedKey: unique symbol = /* @__PURE__ */ Symbol.for('authkernel.outdatedKey')
