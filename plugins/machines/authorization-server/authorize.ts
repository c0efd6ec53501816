/** The authorization endpoint: a user comes by the browser, is signed in as the client demands, answers, and goes back with a code. */
import { type Context, redirectTo } from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { redirectBack } from '../bearer/redirect.ts'
import { leadToApp } from '../bearer/return-page.ts'
import { chooseAccount, hasSwitcher, isNamedUser, leadToSignIn } from './account-choice.ts'
import { type Client, findClient, mayEnter } from './clients.ts'
import { giveCode, membersOnly } from './codes.ts'
import { askConsent, isRemembered, missingOrganizationScopes } from './consent.ts'
import { ClientRequestRefused, OAuthRefusal } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import { administeredOrganizations } from './organization-consent.ts'
import { demandProof } from './proof.ts'
import { readPushed } from './pushed-request.ts'
import { allowedScopes } from './rights.ts'
import { type AuthorizationRequest, readRequest } from './request.ts'
import { demandScopeProof, scopeProofParameter } from './scope-proof.ts'
import { fetchRequestObject, openRequestObject } from './request-object.ts'

/** Parameters of the ways back to this endpoint; they are no part of the request. */
const ownParameters: readonly string[] = ['proof', 'account', scopeProofParameter]

/** `GET /oauth2/authorize`. */
export async function startAuthorization(ctx: Context, options: ResolvedOptions): Promise<Response> {
  return leadToApp(ctx, 'clientReturn', await answerRequest(ctx, options))
}

async function answerRequest(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { client, params, pushed } = await readParameters(ctx, options)
  const request = readRequest(ctx, options, client, params, pushed)
  // A scanner that only looks gets no code.
  if (ctx.request.method === 'HEAD') return new Response(null)
  if ('error' in request)
    return redirectBack({ ...request, issuer: ctx.base }, { error: request.error, error_description: request.description })
  if (ctx.url.href.length > ctx.app.config.limits.callbackUrl)
    return answerError(ctx, request, 'invalid_request', 'The request is too long. Push it.')
  const silent = request.prompt.includes('none')
  const user = await findOwnUser(ctx)
  if (!user?.id) {
    if (silent) return answerError(ctx, request, 'login_required')
    // Another user acts in the session, or a program has it: no page asks it for consent.
    if (await isDelegated(ctx)) return answerError(ctx, request, 'access_denied', 'This session may not let clients in.')
    return leadToSignIn(ctx, request)
  }
  const choice = silent ? undefined : await chooseAccount(ctx, request)
  if (choice) return choice
  const signedIn = { ...user, id: user.id }
  // Another user is here than the one that the client knows.
  if (!(await isNamedUser(ctx, options, client, request, signedIn)))
    return silent ? answerError(ctx, request, 'login_required') : leadToSignIn(ctx, request)
  const stale = await demandProof(ctx, request)
  if (stale) return silent ? answerError(ctx, request, 'login_required') : stale
  if (request.needsSecondFactor && (await ctx.session.attributes?.(ctx))?.factors !== 2)
    return answerError(ctx, request, 'unmet_authentication_requirements', 'The user has no second factor.')
  if (!(await ctx.access.allows(user.id, 'appCode'))) return answerError(ctx, request, 'access_denied')
  if (!(await mayEnter(ctx, client, user.id))) return answerError(ctx, request, 'access_denied', membersOnly)
  const scopes = await allowedScopes(ctx, options, signedIn, client, request.scopes)
  const asked = { ...request, scopes }
  const proof = await demandScopeProof(ctx, options, asked)
  if (proof === 'unmet') return answerError(ctx, request, 'unmet_authentication_requirements', 'A scope needs a stronger or newer sign-in.')
  if (proof) return silent ? answerError(ctx, request, 'login_required') : proof
  if (
    (await missingOrganizationScopes(ctx, options, client, asked, signedIn)).length > 0 &&
    !(await mayDecideForAll(ctx, options, signedIn))
  )
    return answerError(ctx, request, 'access_denied', 'An administrator of the organization must allow this app first.')
  if (!isQuestionNeeded(ctx, client, asked) && (await isRemembered(ctx, client, asked, signedIn)))
    return giveCode(ctx, asked, client, signedIn)
  return silent ? answerError(ctx, request, 'consent_required') : askConsent(ctx, options, client, asked, signedIn)
}

/** `POST /oauth2/authorize` by another site (OpenID Connect Core section 3.1.2.1): its cookies stay away, so the browser comes again by GET. */
export async function startByForm(ctx: Context): Promise<Response> {
  const form = await ctx.form()
  return redirectTo(`${ctx.base}/oauth2/authorize?${form.toString()}`)
}

/** The error goes back to the client, whose redirect URI was compared before. */
export function answerError(
  ctx: Context,
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  error: string,
  description?: string,
): Response {
  return redirectBack(
    { redirectUri, state, issuer: ctx.base },
    { error, ...(description !== undefined && { error_description: description }) },
  )
}

async function readParameters(
  ctx: Context,
  options: ResolvedOptions,
): Promise<{ client: Client; params: URLSearchParams; pushed?: string }> {
  const query = ctx.url.searchParams
  const id = query.getAll('client_id').length === 1 ? (query.get('client_id') as string) : ''
  const client = await asPage(() => findClient(ctx, options, id))
  if (!client)
    throw new ClientRequestRefused('An authorization request names no client of authorizationServerPlugin: look at its `client_id`.')
  const uri = query.get('request_uri')
  if (uri !== null && !uri.startsWith('https://')) {
    // RFC 9126 section 4: nothing beside it counts.
    const found = await readPushed(ctx, client.id, uri)
    if (!found) throw new ClientRequestRefused(`The client "${client.id}" brought a \`request_uri\` that is unknown, used or too old.`)
    return { client, params: found.params, pushed: found.id }
  }
  if (client.metadata.require_pushed_authorization_requests)
    throw new ClientRequestRefused(`The client "${client.id}" must push its requests (RFC 9126).`)
  const sent = new URLSearchParams([...query].filter(([name]) => !ownParameters.includes(name)))
  return {
    client,
    params: await asPage(() => (uri === null ? openRequestObject(ctx, client, sent) : fetchRequestObject(ctx, client, uri))),
  }
}

/** Work whose rejection the browser sees as a page: there is no address yet that the answer could go to. */
async function asPage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof OAuthRefusal) throw new ClientRequestRefused(error.message)
    throw error
  }
}

function isQuestionNeeded(ctx: Context, { firstParty }: Client, { prompt, details }: AuthorizationRequest): boolean {
  // The switcher has asked already. Details differ each time: what was allowed once says nothing about the next.
  return (prompt.includes('select_account') && !hasSwitcher(ctx)) || ((prompt.includes('consent') || details.length > 0) && !firstParty)
}

async function mayDecideForAll(ctx: Context, options: ResolvedOptions, { id }: { id: string }): Promise<boolean> {
  return (await administeredOrganizations(ctx, options, id)).length > 0
}

async function isDelegated(ctx: Context): Promise<boolean> {
  const session = await ctx.currentSession()
  return session !== null && ('actor' in session || 'apiKey' in session || 'bearer' in session || 'agent' in session)
}
