/** The redirect proxy: one registered redirect_uri for many deployments (rows 203 to 205). */
import { type Context, hostMatches, InvalidCheck, redirectTo } from 'authkernel/kernel'
import { proxyOf } from './checks.ts'
import { envelopePurpose } from './start.ts'
import type { OAuthProvider } from './types.ts'

/** On the proxy: sends a callback on to the deployment that its state names. Undefined when it is meant for this one. Throws InvalidCheck. */
export async function forwardCallback(ctx: Context, provider: OAuthProvider, params: URLSearchParams): Promise<Response | undefined> {
  const proxy = proxyOf(ctx, provider)
  const states = params.getAll('state')
  if (proxy === undefined || states.length !== 1 || new URL(proxy).origin !== ctx.origin) return undefined
  const sealed = await ctx.open(envelopePurpose, states[0] ?? '')
  const target = sealed?.['origin']
  // Only a holder of the secret can name a target, so this is no open redirector.
  if (typeof target !== 'string' || sealed?.['provider'] !== provider.id || !URL.canParse(target)) {
    throw new InvalidCheck(`The callback of provider "${provider.id}" carries a state that no deployment with this secret made.`, {
      cause: { provider: provider.id },
    })
  }
  const url = new URL(target)
  if (url.origin === ctx.origin) return undefined
  // A deployment that believes any Host header seals the name of any host: the code would go there.
  const { allowedHosts } = ctx.app.config
  if (allowedHosts && !allowedHosts.some((pattern) => hostMatches(pattern, url.host))) {
    throw new InvalidCheck(`The state of provider "${provider.id}" names the deployment "${url.host}", which is not in \`allowedHosts\`.`, {
      cause: { provider: provider.id },
    })
  }
  url.search = params.toString()
  return redirectTo(url.href)
}
