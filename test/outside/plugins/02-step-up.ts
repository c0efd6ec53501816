/** Step-up: routes may demand a fresher or stronger proof than the session has (RFC 9470 in spirit). */
import { type Plugin, redirectTo, type SessionAttributes, withParams } from 'authkernel/kernel'

export interface Demand {
  /** Seconds since the last proof. */
  maxAge?: number
  /** Methods that must all have been used: `otp`, `hwk`, `pwd` … */
  amr?: readonly string[]
  acr?: readonly string[]
}
export interface FreshProof {
  /** Null: go on. A Response: send it, it leads to the proof and back to this address. */
  require(request: Request, demand: Demand): Promise<Response | null>
  evidence(request: Request): Promise<SessionAttributes | null>
}

/** `linkMaxAge`: seconds, how fresh a proof must be to link a further account. */
export function freshProofPlugin({ linkMaxAge = 300 }: { linkMaxAge?: number } = {}): Plugin<{ freshProof: FreshProof }> {
  return {
    name: 'fresh-proof',
    requires: ['session:attributes'],
    setup(kernel) {
      kernel.messages({ en: { 'fresh-proof.title': 'Please prove once more that it is you', 'fresh-proof.other': 'Other ways' } })

      kernel.hook('link', async ({ ctx }) => {
        if (!ctx.request) return false
        const attributes = (await ctx.session.attributes?.(ctx)) ?? null
        return meets(attributes, { maxAge: linkMaxAge }, ctx.now) || `${ctx.base}/fresh-proof`
      })

      // The same form as on the sign-in page, for the way that the session began with.
      kernel.page(
        'freshProof',
        async (ctx, { say, form, field, submit, link }, { callbackUrl }) => {
          const end = await ctx.callbackUrl(callbackUrl)
          const attributes = (await ctx.session.attributes?.(ctx)) ?? null
          const provider = (await ctx.providers()).find(({ id }) => id === attributes?.provider)
          const drawn = provider && ctx.flow(provider).form?.(provider)
          const other = withParams(`${ctx.base}/signin`, { callbackUrl: end })
          if (!provider || drawn?.script || drawn?.hidden) return redirectTo(other)
          const fields = Object.entries(drawn?.fields ?? {}).map(([name, options]) => field(name, options, provider.id))
          return {
            title: say('fresh-proof.title'),
            body: [
              await form(`/${drawn?.post ?? 'signin'}/${provider.id}`, [...fields, submit(provider.name)], { callbackUrl: end }),
              link(say('fresh-proof.other'), other),
            ],
          }
        },
        { path: '/fresh-proof' },
      )
      // What a provider is asked for, so that it does not answer from its own session.
      kernel.hook('authorizationRequest', async ({ parameters, ctx }) => {
        if ((await ctx.session.attributes?.(ctx)) ?? null) parameters.set('max_age', '0')
        return parameters
      })

      const evidence: FreshProof['evidence'] = async (request) => {
        const ctx = await kernel.contextOf(request)
        return (await ctx.session.attributes?.(ctx)) ?? null
      }
      return {
        freshProof: {
          evidence,
          async require(request, demand) {
            const ctx = await kernel.contextOf(request)
            if (meets(await evidence(request), demand, ctx.now)) return null
            return redirectTo(withParams(`${ctx.base}/fresh-proof`, { callbackUrl: ctx.url.href }))
          },
        },
      }
    },
  }
}

function meets(found: SessionAttributes | null, { maxAge, amr, acr }: Demand, now: Date): boolean {
  if (!found) return false
  if (maxAge !== undefined && now.getTime() / 1000 - found.authTime > maxAge) return false
  if (amr && !amr.every((method) => method in found.methods)) return false
  return !acr || (found.acr !== undefined && acr.includes(found.acr))
}
