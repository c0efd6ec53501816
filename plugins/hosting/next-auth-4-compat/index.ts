/** Cookies, keys, hashes and the client of NextAuth 4, so that an app that moves keeps every signed-in user. */
import { assertOptions, type NoOptions, type Plugin, sha256, toHex } from 'authkernel/kernel'
import { shapeAnswer } from './answers.ts'
import { announcementsOf } from './convert.ts'

export { nextAuth4Options, type NextAuth4Options } from './convert.ts'

/**
 * HKDF info of NextAuth 4's keys: for `encode`, `decode` and `getToken` of hosts that read its tokens. The salt of a session token is empty:
 * `getToken({ req, secret, cookieName: 'next-auth.session-token', salt: '', keyInfo: nextAuth4KeyInfo })`.
 */
export function nextAuth4KeyInfo(salt: string): string {
  return `NextAuth.js Generated Encryption Key${salt === '' ? '' : ` (${salt})`}`
}

/**
 * Cookies are named `next-auth.*`, session tokens are sealed as NextAuth 4.24 does it (A256GCM), and its CSRF tokens and magic links are accepted.
 * Answers have the form that the client `next-auth/react` of version 4 reads. Either product reads the sessions of the other.
 */
export function nextAuth4CompatPlugin(options: NoOptions = {}): Plugin {
  assertOptions('Plugin "next-auth-4-compat"', options, {})
  return {
    name: 'next-auth-4-compat',
    setup(kernel) {
      const { cookies, trustHost, trustProxy, origin, logger } = kernel.config
      const own = cookies.sessionToken?.name
      const saltOf = (purpose: string): string =>
        purpose === own || /^(?:__Secure-)?next-auth\.session-token$/.test(purpose) ? '' : purpose
      kernel.defaults({
        cookiePrefix: 'next-auth',
        keySalt: saltOf,
        keyInfo: (purpose) => nextAuth4KeyInfo(saltOf(purpose)),
        encryption: ['A256GCM', 'A256CBC-HS512'],
        legacyDigests,
        // In NextAuth only the `session` callback adds it.
        sessionUserId: false,
        trustProxyFollowsHost: true,
      })
      // NextAuth believes X-Forwarded-* of every client where AUTH_TRUST_HOST is set, which is safe behind a proxy alone.
      if (trustHost && trustProxy === undefined && !origin) logger.warn('authjs-compat-trusts-forwarded-headers')
      for (const text of announcementsOf(kernel.config)) logger.warn('next-auth-4-option', text)
      kernel.hook('response', ({ response, ctx }) => shapeAnswer(ctx, response))
      // The client posts its errors here. Any visitor can post anything, so nothing of it is read or logged.
      kernel.route({ method: 'POST', path: '/_log', csrf: 'crossSite', handler: () => Response.json({}) })
    },
  }
}

/** SHA-256 of value and secret, for CSRF tokens and magic links. */
async function legacyDigests(value: string, secrets: readonly string[]): Promise<readonly string[]> {
  return Promise.all(secrets.map(async (secret) => toHex(await sha256(value + secret))))
}
