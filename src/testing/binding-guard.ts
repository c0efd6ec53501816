/** The contract of bindings, fourth part: a guard tells an app why its access token opened nothing (RFC 6750 section 3, RFC 9449 section 7.1). */
import { type AppTokens, hostRequestOf, HttpError, json, type Plugin } from 'authkernel/kernel'
import { expect, it } from './runner.ts'
import { Client } from './binding-client.ts'
import type { BindingSubject } from './binding-options.ts'

const challenge = 'Bearer error="invalid_token"'
const nonceChallenge = 'DPoP error="use_dpop_nonce"'

/** Access tokens that open nothing, and a scheme that needs a nonce. Notes by the marker of each request which requests of the host it was. */
const tokens = (seen: Map<string, Set<object>>): Plugin => ({
  name: 'authkernel-contract-tokens',
  setup(kernel) {
    const note = (request: Request): void => {
      const marker = request.headers.get('x-marker') ?? ''
      seen.set(marker, (seen.get(marker) ?? new Set()).add(hostRequestOf(request)))
    }
    kernel.hook('authenticate', ({ ctx }) => {
      note(ctx.request)
      const authorization = ctx.request.headers.get('authorization') ?? ''
      if (authorization.startsWith('DPoP ')) throw new HttpError(401, 'A nonce is needed.')
      return authorization.startsWith('Bearer ') ? null : undefined
    })
    const service: Partial<AppTokens> = {
      challenge: async (ctx, error) => {
        note(ctx.request)
        if (!error) return json({ error: 'invalid_token' }, 401, { 'WWW-Authenticate': challenge })
        return json({ error: 'use_dpop_nonce' }, 401, { 'WWW-Authenticate': nonceChallenge, 'DPoP-Nonce': 'n' })
      },
    }
    kernel.provide('appTokens', service as AppTokens)
  },
})

export function guardRule({ start, base, paths }: BindingSubject): void {
  it('the guard tells apps why their access token opened nothing, and users nothing of tokens', async () => {
    const seen = new Map<string, Set<object>>()
    const host = await start({}, [tokens(seen)])
    try {
      const ask = (headers: Record<string, string>): ReturnType<Client['get']> => new Client(host.origin, base).get(paths.guarded, headers)
      // A client may accept everything: a browser never sends an Authorization header of its own.
      for (const accept of ['application/json', 'text/html']) {
        const refused = await ask({ authorization: 'Bearer stale', accept })
        expect([refused.status, refused.headers.get('www-authenticate')], refused.summary).toEqual([401, challenge])
      }
      const nonce = await ask({ authorization: 'DPoP stale', accept: 'application/json' })
      expect([nonce.status, nonce.headers.get('www-authenticate'), nonce.headers.get('dpop-nonce')], nonce.summary).toEqual([
        401,
        nonceChallenge,
        'n',
      ])
      const visitor = await ask({ accept: 'application/json' })
      expect([visitor.status, visitor.headers.get('www-authenticate')], visitor.summary).toEqual([401, null])
      // What counts once, such as a proof, counts once for everything that a binding asks about one request, and for no other request.
      const objects: object[] = []
      for (const marker of ['first', 'second']) {
        await ask({ authorization: 'Bearer stale', accept: 'application/json', 'x-marker': marker })
        const of = [...(seen.get(marker) ?? [])]
        expect(of, 'Say `setHostRequest(made, request)` where the binding makes a web request.').toHaveLength(1)
        objects.push(...of)
      }
      expect(objects[0]).not.toBe(objects[1])
    } finally {
      await host.close()
    }
  })
}
