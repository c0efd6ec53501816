/** Routes of the server: for browsers, for clients, and the metadata that names them. */
import { type AuthError, type Context, HttpError, json, type Kernel, type Route } from 'authkernel/kernel'
import { startAuthorization, startByForm } from './authorize.ts'
import { answerApproval } from './ciba-approve.ts'
import { startBackchannel } from './ciba-request.ts'
import { answerConsent } from './consent.ts'
import { answerDevice, enterDeviceCode } from './device-approve.ts'
import { startDevice } from './device-request.ts'
import { listEndedGrants, listMaxAge } from './ended-grants.ts'
import { OAuthRefusal } from './errors.ts'
import { answerIntrospection, answerRevocation } from './introspection.ts'
import { confirmLogout, startLogout } from './logout.ts'
import { resourceMetadata, resourceMetadataPath, serverMetadata } from './metadata.ts'
import type { ResolvedOptions } from './options.ts'
import { pushRequest } from './pushed-request.ts'
import { changeRegistration, deleteRegistration, readRegistration, type Registration, registerClient } from './registration.ts'
import { answerToken } from './token-endpoint.ts'
import { answerUserinfo } from './userinfo.ts'

/** Routes of programs: no cookies, so that scripts of any origin may call them. */
const forClients: Pick<Route, 'csrf' | 'cors' | 'body' | 'failure'> = {
  csrf: 'bearer',
  cors: { origins: 'any', headers: ['dpop'] },
  body: { bytes: 32_768 },
  failure: failureResponse,
}

/** Adds the routes that every server has. */
export function addRoutes(kernel: Kernel, options: ResolvedOptions): void {
  addBrowserRoutes(kernel, options)
  const post = (path: Route['path'], answer: (ctx: Context, options: ResolvedOptions) => Promise<Response>): void =>
    kernel.route({ method: 'POST', path, ...forClients, handler: (ctx) => answerAsOAuth(() => answer(ctx, options)) })
  post('/oauth2/token', answerToken)
  post('/oauth2/par', pushRequest)
  post('/oauth2/revoke', answerRevocation)
  post('/oauth2/introspect', answerIntrospection)
  const { ciba, device } = options
  if (device) post('/oauth2/device_authorization', startDevice)
  if (ciba) post('/oauth2/bc-authorize', (ctx) => startBackchannel(ctx, options, ciba))
  for (const method of ['GET', 'POST'] as const)
    kernel.route({ method, path: '/oauth2/userinfo', ...forClients, handler: (ctx) => answerAsOAuth(() => answerUserinfo(ctx, options)) })
  if (options.registration) addRegistrationRoutes(kernel, options, options.registration)
  addMetadataRoutes(kernel, options)
}

/** What is wrong with a request of a program, as RFC 6749 section 5.2 says it. */
async function answerAsOAuth(work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof OAuthRefusal) return refusalResponse(error.code, error.message, error.status, error.headers)
    if (error instanceof HttpError && error.status < 500)
      return refusalResponse('invalid_request', error.message, error.status, error.headers)
    throw error
  }
}

function addBrowserRoutes(kernel: Kernel, options: ResolvedOptions): void {
  // The error page says what is wrong, at an address of our own.
  const failure = (ctx: Context, { type, status }: AuthError): Promise<Response> | undefined =>
    type === 'ClientRequestRefused' ? ctx.render('error', { error: type, status: String(status) }) : undefined
  kernel.route({ method: 'GET', path: '/oauth2/authorize', handler: (ctx) => startAuthorization(ctx, options), failure })
  kernel.route({ method: 'POST', path: '/oauth2/authorize', csrf: 'crossSite', handler: startByForm, failure })
  kernel.route({ method: 'POST', path: '/oauth2/consent', handler: (ctx) => answerConsent(ctx, options) })
  if (options.ciba) kernel.route({ method: 'POST', path: '/oauth2/approve', handler: (ctx) => answerApproval(ctx, options) })
  const { device } = options
  if (device) {
    kernel.route({ method: 'POST', path: '/oauth2/device', handler: (ctx) => enterDeviceCode(ctx, options, device) })
    kernel.route({ method: 'POST', path: '/oauth2/device/decide', handler: (ctx) => answerDevice(ctx, options) })
  }
  kernel.route({ method: 'GET', path: '/oauth2/logout', handler: (ctx) => startLogout(ctx, options) })
  kernel.route({ method: 'POST', path: '/oauth2/logout/confirm', handler: (ctx) => confirmLogout(ctx, options) })
}

function addRegistrationRoutes(kernel: Kernel, options: ResolvedOptions, registration: Registration): void {
  const withJson = { ...forClients, body: { bytes: 32_768, types: ['json' as const] } }
  const path = '/oauth2/register/:client'
  kernel.route({
    method: 'POST',
    path: '/oauth2/register',
    ...withJson,
    handler: (ctx) => answerAsOAuth(() => registerClient(ctx, options, registration)),
  })
  kernel.route({ method: 'GET', path, ...forClients, handler: (ctx) => answerAsOAuth(() => readRegistration(ctx)) })
  kernel.route({ method: 'PUT', path, ...withJson, handler: (ctx) => answerAsOAuth(() => changeRegistration(ctx, options)) })
  kernel.route({ method: 'DELETE', path, ...forClients, handler: (ctx) => answerAsOAuth(() => deleteRegistration(ctx, options)) })
}

function addMetadataRoutes(kernel: Kernel, options: ResolvedOptions): void {
  const { basePath } = kernel.config
  const path = basePath === '/' ? '' : basePath
  const describe = { method: 'GET' as const, public: { maxAge: 300 }, cors: { origins: 'any' as const }, failure: failureResponse }
  const handler = (ctx: Context): Response => metadataResponse(serverMetadata(ctx, options))
  kernel.route({ ...describe, at: 'root', path: `/.well-known/oauth-authorization-server${path}`, handler })
  // Both places where clients look for OpenID Connect: below the issuer, and as RFC 8414 section 5 places it.
  kernel.route({ ...describe, at: 'root', path: `/.well-known/openid-configuration${path}`, handler })
  if (path !== '') kernel.route({ ...describe, path: '/.well-known/openid-configuration', handler })
  kernel.route({ ...describe, public: { maxAge: listMaxAge }, path: '/oauth2/ended-grants', handler: listEndedGrants })
  const resources = [...options.resources.values()]
  for (const place of new Set(resources.map(resourceMetadataPath)))
    kernel.route({
      ...describe,
      at: 'root',
      path: place,
      // A resource at another origin has its metadata there.
      handler(ctx) {
        const here = resources.find((one) => resourceMetadataPath(one) === place && new URL(one.resource).origin === ctx.origin)
        return here ? metadataResponse(resourceMetadata(ctx, here)) : json({ error: 'not_found' }, 404)
      },
    })
}

function metadataResponse(members: Readonly<Record<string, unknown>>): Response {
  return new Response(JSON.stringify(members), { headers: { 'Content-Type': 'application/json' } })
}

function refusalResponse(error: string, description: string, status: number, headers: Readonly<Record<string, string>> = {}): Response {
  return json({ error, error_description: description }, status, { ...headers, 'Cache-Control': 'no-store' })
}

function failureResponse(_ctx: Context, { status }: AuthError): Response {
  return json({ error: status < 500 ? 'invalid_request' : 'server_error' }, status, { 'Cache-Control': 'no-store' })
}
