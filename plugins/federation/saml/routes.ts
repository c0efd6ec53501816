/** HTTP: answers of identity providers, our metadata, single logout. The code behind is loaded by the first request. */
import { type Kernel, lazily } from 'authkernel/kernel'

const load = /* @__PURE__ */ lazily(() => import('./service.ts'))

// 256 KB of XML in base64, of which each `+`, `/` and `=` is three characters in a form.
const maxBytes = 400_000

/** Registers the routes of all SAML providers. */
export function addRoutes(kernel: Kernel): void {
  kernel.route({
    method: 'POST',
    path: '/saml/:provider/acs',
    csrf: 'crossSite',
    flow: 'callback',
    takes: 'proof',
    body: { bytes: maxBytes, types: ['form'] },
    handler: async (ctx) => (await load()).finishSamlSignIn(ctx),
  })
  kernel.route({
    method: 'POST',
    path: '/saml/:provider/continue',
    flow: 'callback',
    takes: 'proof',
    body: { bytes: maxBytes, types: ['form'] },
    handler: async (ctx) => (await load()).continueSamlSignIn(ctx),
  })
  kernel.route({ method: 'GET', path: '/saml/:provider/metadata', handler: async (ctx) => (await load()).answerMetadata(ctx) })
  kernel.route({ method: 'GET', path: '/saml/:provider/leave', handler: async (ctx) => (await load()).postLogoutRequest(ctx) })
  kernel.route({ method: 'GET', path: '/saml/:provider/logout', handler: async (ctx) => (await load()).answerLogout(ctx) })
  kernel.route({
    method: 'POST',
    path: '/saml/:provider/logout',
    csrf: 'crossSite',
    body: { bytes: maxBytes, types: ['form'] },
    handler: async (ctx) => (await load()).answerLogout(ctx),
  })
}
