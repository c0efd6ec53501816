/** Sign-in by an ID token that a platform gave to an app or to a page: Android, iOS, Google One Tap, Facebook Limited Login (OpenID Connect Core 3.1.3.7). */
import type { Plugin } from 'authkernel/kernel'
import { type IdTokenOptions, resolveOptions } from './options.ts'
import { addRoutes } from './routes.ts'

export { InvalidIdToken } from './errors.ts'
export { facebookLimitedLogin, type IdTokenOptions, type IdTokenProvider } from './options.ts'

/**
 * Adds `POST /signin/:provider/nonce` and `POST /signin/:provider/token`. The token needs a nonce that this server issued to one device. A nonce is
 * single-use, and valid for five minutes. Needs the service `once`, which adapters provide. Throws AuthError for options of the wrong shape.
 */
export function idTokenPlugin(options: IdTokenOptions): Plugin {
  const providers = resolveOptions(options)
  return {
    name: 'id-token',
    requires: ['once'],
    setup(kernel) {
      addRoutes(kernel, providers)
    },
  }
}
