/** Names, keys and hashes of Auth.js 0.41, so that an app that moves keeps every signed-in user. */
import { assertOptions, type NoOptions, type Plugin, sha256, toHex } from 'authkernel/kernel'

/** HKDF info of Auth.js' keys: for `encode`, `decode` and `getToken` of hosts that read its tokens. */
export function authjsKeyInfo(salt: string): string {
  return `Auth.js Generated Encryption Key (${salt})`
}

/** Cookies are named `authjs.*`, keys are derived as Auth.js does, its A256GCM tokens and its CSRF and mail tokens are accepted. */
export function authjsCompatPlugin(options: NoOptions = {}): Plugin {
  assertOptions('Plugin "authjs-compat"', options, {})
  return {
    name: 'authjs-compat',
    setup(kernel) {
      kernel.defaults({
        cookiePrefix: 'authjs',
        keyInfo: authjsKeyInfo,
        encryption: ['A256CBC-HS512', 'A256GCM'],
        legacyDigests,
        // In Auth.js only the `session` callback adds it.
        sessionUserId: false,
        trustProxyFollowsHost: true,
      })
      const { trustHost, trustProxy, origin, logger } = kernel.config
      // Auth.js believes X-Forwarded-* of every client, which is safe behind a proxy alone.
      if (trustHost && trustProxy === undefined && !origin) logger.warn('authjs-compat-trusts-forwarded-headers')
    },
  }
}

/** SHA-256 of value and secret; a list of secrets was joined with commas before it was hashed. */
async function legacyDigests(value: string, secrets: readonly string[]): Promise<readonly string[]> {
  const forms = [...new Set([secrets.join(','), ...secrets])]
  return Promise.all(forms.map(async (secret) => toHex(await sha256(value + secret))))
}
