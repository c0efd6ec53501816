/** Addresses that identity providers know of better-auth: each leads on to the route that answers here. */
import { type Context, type Kernel, redirectTo, type Route } from 'authkernel/kernel'

/** Redirect URIs of sso() and of genericOAuth() in 1.6, with the answer in the address. */
const redirectUris: readonly Route['path'][] = ['/sso/callback/:provider', '/oauth2/callback/:provider']
/** Assertion consumer services of 1.6 and 1.7. */
const consumers: readonly Route['path'][] = ['/sso/saml2/sp/acs/:provider', '/sso/saml2/callback/:provider']
const logouts: readonly Route['path'][] = ['/sso/saml2/sp/slo/:provider']

// A SAML response in a form: as much as the route takes that it is handed to.
const maxBytes = 400_000

/** They check nothing themselves: the route behind does, with the cookies of the browser. */
export function addFormerAddresses(kernel: Kernel): void {
  for (const path of redirectUris) kernel.route({ method: 'GET', path, handler: (ctx) => leadOn(ctx, (id) => `/callback/${id}`) })
  // 307 keeps the method and the form (RFC 9110 section 15.4.8).
  const body = { bytes: maxBytes, types: ['form' as const] }
  for (const path of consumers)
    kernel.route({ method: 'POST', path, csrf: 'crossSite', body, handler: (ctx) => leadOn(ctx, (id) => `/saml/${id}/acs`, 307) })
  for (const path of logouts) {
    kernel.route({ method: 'GET', path, handler: (ctx) => leadOn(ctx, (id) => `/saml/${id}/logout`) })
    kernel.route({ method: 'POST', path, csrf: 'crossSite', body, handler: (ctx) => leadOn(ctx, (id) => `/saml/${id}/logout`, 307) })
  }
}

function leadOn(ctx: Context, pathOf: (id: string) => string, status = 302): Response {
  const target = ctx.base + pathOf(encodeURIComponent(ctx.params['provider'] ?? '')) + ctx.url.search
  // The answer of an identity provider is in the address: no page that follows learns of it.
  const response = redirectTo(target, { 'Referrer-Policy': 'no-referrer' })
  return status === 302 ? response : new Response(null, { status, headers: response.headers })
}
