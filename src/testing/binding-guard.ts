/** The contract of bindings, fifth part: a guard tells an app why its access token opened nothing (RFC 6750 section 3, RFC 9449 section 7.1). */
import { type AppTokens, HttpError, json, type Plugin } from 'authkernel/kernel'
import { expect, it } from './runner.ts'
import { Client } from './binding-client.ts'
import type { BindingSubject } from './binding-options.ts'

const challenge = 'Bearer error="invalid_token"'
const nonceChallenge = 'DPoP error="use_dpop_nonce"'

/** Access tokens that are nobody's, and a scheme that needs a nonce. */
const tokens: Plugin = {
  name: 'authkernel-contract-tokens',
  setup(kernel) {
    kernel.hook('authenticate', ({ ctx }) => {
      const authorization = ctx.request.headers.get('authorization') ?? ''
      if (authorization.startsWith('DPoP ')) throw new HttpError(401, 'A nonce is needed.')
      return authorization.startsWith('Bearer ') ? null : undefined
    })
    const service: Partial<AppTokens> = {
      challenge: async (_ctx, error) => {
        if (!error) return json({ error: 'invalid_token' }, 401, { 'WWW-Authenticate': challenge })
        return json({ error: 'use_dpop_nonce' }, 401, { 'WWW-Authenticate': nonceChallenge, 'DPoP-Nonce': 'n' })
      },
    }
    kernel.provide('appTokens', service as AppTokens)
  },
}

export function guardRule({ start, base, paths }: BindingSubject): void {
  it('the guard tells apps why their access token opened nothing, and people nothing of tokens', async () => {
    const host = await start({}, [tokens])
    try {
      const ask = (headers: Record<string, string>): ReturnType<Client['get']> => new Client(host.origin, base).get(paths.guarded, headers)
      // A client may accept everything: nobody types an Authorization header into a browser.
      for (const accept of ['application/json', 'text/html']) {
        const refused = await ask({ authorization: 'Bearer stale', accept })
        expect([refused.status, refused.headers.get('www-authenticate')], refused.told).toEqual([401, challenge])
      }
      const nonce = await ask({ authorization: 'DPoP stale', accept: 'application/json' })
      expect([nonce.status, nonce.headers.get('www-authenticate'), nonce.headers.get('dpop-nonce')], nonce.told).toEqual([
        401,
        nonceChallenge,
        'n',
      ])
      const nobody = await ask({ accept: 'application/json' })
      expect([nobody.status, nobody.headers.get('www-authenticate')], nobody.told).toEqual([401, null])
    } finally {
      await host.close()
    }
  })
}
