/** The question whether a client may come in: who asks, where the answer goes, what for, and as whom. */
import {
  type Context,
  HttpError,
  type Kernel,
  type PageTools,
  type PageView,
  sha256,
  toBase64Url,
  toHex,
  type User,
} from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { redirectBack } from '../bearer/redirect.ts'
import { hasSwitcher } from './account-choice.ts'
import { describeDetail } from './authorization-details.ts'
import { scopesOfClaims } from './claims-request.ts'
import { type Client, findClient, isImitable } from './clients.ts'
import { giveCode } from './codes.ts'
import { issuerItself } from './client-import.ts'
import { findConsent, rememberConsent } from './consent-store.ts'
import { isDocumentAddress } from './client-document.ts'
import { allowForOrganization, administeredOrganizations, assertAdministrator, organizationAllowance } from './organization-consent.ts'
import { openidScopes, type ResolvedOptions } from './options.ts'
import type { AuthorizationRequest } from './request.ts'
import { keepsScopeProof } from './scope-proof.ts'

const purpose = 'authorization-server.consent'
const ticketSeconds = 600

/** What the page hands on to the form that answers it. */
interface Ticket {
  id: string
  userId: string
  request: AuthorizationRequest
  /** What the page showed of the client: a client that changed since is another one. */
  seen: string
}

/** Adds the page. It has no separate route: `GET /oauth2/authorize` renders it. */
export function addConsentPage(kernel: Kernel, options: ResolvedOptions): void {
  kernel.page('clientConsent', (ctx, tools, params) => drawQuestion(ctx, options, tools, params))
}

/** Whether the user allowed all of it before, and no other program can pretend to be the client. */
export async function isRemembered(ctx: Context, client: Client, request: AuthorizationRequest, user: { id: string }): Promise<boolean> {
  if (isImitable(client, request.redirectUri)) return false
  if (client.firstParty) return true
  const [own, theirs] = await Promise.all([findConsent(ctx, user.id, client.id), organizationAllowance(ctx, user.id, client)])
  const isWithin = (wanted: readonly string[], known: readonly string[]): boolean => wanted.every((one) => known.includes(one))
  const audiences = [...(own?.audiences ?? []), ...theirs.audiences].map((one) => (one === issuerItself ? ctx.base : one))
  if (!isWithin(consentScopes(request), [...(own?.scopes ?? []), ...theirs.scopes]) || !isWithin(request.audiences, audiences)) return false
  if (own) return true
  if (theirs.audiences.length === 0) return false
  // Shown on the account page with its last use, and nothing of its own: the organization allowed it.
  await rememberConsent(ctx, { userId: user.id, clientId: client.id, name: client.name, scopes: [], audiences: [] })
  return true
}

/** Scopes of a request that only an administrator of an organization can allow, and none has. */
export async function missingOrganizationScopes(
  ctx: Context,
  { organizationConsent }: ResolvedOptions,
  client: Client,
  { scopes }: AuthorizationRequest,
  user: { id: string },
): Promise<string[]> {
  const demanding = client.firstParty ? [] : scopes.filter((scope) => organizationConsent.scopes.includes(scope))
  if (demanding.length === 0) return []
  const allowed = await organizationAllowance(ctx, user.id, client)
  return demanding.filter((scope) => !allowed.scopes.includes(scope))
}

/** The page with the question. */
export async function askConsent(
  ctx: Context,
  options: ResolvedOptions,
  client: Client,
  request: AuthorizationRequest,
  user: User & { id: string },
): Promise<Response> {
  const ticket: Ticket = { id: toBase64Url(ctx.runtime.random(16)), userId: user.id, request, seen: await appearanceOf(client) }
  // What another program can pretend to be is never allowed for others.
  const organizations =
    isImitable(client, request.redirectUri) || client.firstParty ? [] : await administeredOrganizations(ctx, options, user.id)
  const isForOrganization = (await missingOrganizationScopes(ctx, options, client, request, user)).length > 0
  return ctx.render('clientConsent', {
    ticket: await ctx.seal(purpose, { ...ticket }, ticketSeconds),
    client: client.name,
    source: client.source,
    host: hostOf(client, request),
    logo: client.source === 'options' || client.source === 'host' ? client.metadata.logo_uri : undefined,
    policy: client.metadata.policy_uri,
    terms: client.metadata.tos_uri,
    who: user.email ?? user.name ?? user.id,
    scopes: consentScopes(request).join(' '),
    details: JSON.stringify(request.details.map((detail) => describeDetail(options.authorizationDetails.get(detail.type), detail))),
    ui_locales: request.uiLocales,
    organizations: JSON.stringify([...(isForOrganization ? [] : [['', '']]), ...organizations.map(({ id, name }) => [id, name])]),
    organization: client.organization?.name,
    audiences: JSON.stringify(request.audiences.filter((one) => one !== ctx.base)),
    target: request.redirectUri,
    switch: `${ctx.base}/${hasSwitcher(ctx) ? 'switch' : 'signin'}?callbackUrl=${encodeURIComponent(ctx.url.href)}`,
  })
}

/** `POST /oauth2/consent`: what the user says. */
export async function answerConsent(ctx: Context, options: ResolvedOptions): Promise<Response> {
  const { ticket: sealed, decision, organization } = await ctx.body()
  const ticket = typeof sealed === 'string' ? await ctx.open<Ticket & object>(purpose, sealed) : null
  const user = await findOwnUser(ctx)
  const client = ticket && (await findClient(ctx, options, ticket.request.clientId))
  // The user who reads the page is the one who answers it, once.
  if (
    !ticket ||
    !client ||
    user?.id !== ticket.userId ||
    ticket.seen !== (await appearanceOf(client)) ||
    !(await ctx.once.take(`authorization-server.consent ${ticket.id}`, ticketSeconds))
  )
    throw new HttpError(400, 'This page is too old. Go back to the app and sign in again.')
  const { redirectUri, state, audiences } = ticket.request
  const scopes = consentScopes(ticket.request)
  if (decision !== 'allow') return redirectBack({ redirectUri, state, issuer: ctx.base }, { error: 'access_denied' })
  if (!(await keepsScopeProof(ctx, options, scopes, ticketSeconds)))
    throw new HttpError(400, 'This page is too old. Go back to the app and sign in again.')
  const forAll = typeof organization === 'string' && organization !== '' ? organization : undefined
  const wanting = await missingOrganizationScopes(ctx, options, client, ticket.request, { id: ticket.userId })
  if (forAll === undefined && wanting.length > 0) throw new HttpError(403, 'Only an administrator of an organization can allow this.')
  if (forAll !== undefined) {
    if (isImitable(client, redirectUri)) throw new HttpError(403, 'This app cannot be allowed for all members.')
    await assertAdministrator(ctx, options, ticket.userId, forAll)
  }
  const response = await giveCode(ctx, ticket.request, client, { ...user, id: ticket.userId })
  await rememberConsent(ctx, { userId: ticket.userId, clientId: client.id, name: client.name, scopes, audiences })
  if (forAll !== undefined)
    await allowForOrganization(ctx, {
      organizationId: forAll,
      clientId: client.id,
      name: client.name,
      scopes,
      audiences,
      by: ticket.userId,
    })
  await ctx.emit('clientAuthorized', { user: { id: ticket.userId }, clientId: client.id, scopes })
  return response
}

async function appearanceOf({ metadata }: Client): Promise<string> {
  return toHex(await sha256(JSON.stringify([metadata.client_name, metadata.redirect_uris])))
}

/** What the user allows: scopes, and those whose words stand for single claims. */
function consentScopes({ scopes, claims }: AuthorizationRequest): string[] {
  return [...new Set([...scopes, ...(claims ? scopesOfClaims(claims) : [])])]
}

/** What an attacker cannot choose freely: the place where the answer goes, and that of the document. */
function hostOf({ id }: Client, { redirectUri }: AuthorizationRequest): string {
  const { host, protocol } = new URL(redirectUri)
  const target = host === '' ? protocol.slice(0, -1) : host
  const own = isDocumentAddress(id) ? new URL(id).host : target
  return own === target ? target : `${own}, ${target}`
}

async function drawQuestion(
  ctx: Context,
  options: ResolvedOptions,
  { html, say, form, submit, link, facts, tag, select }: PageTools,
  params: Readonly<Record<string, string | undefined>>,
): Promise<PageView> {
  const { ticket, client = '', source, host = '', logo, who = '', target = '', policy, terms } = params
  const isVerified = source === 'options' || source === 'host'
  const scopes = (params['scopes'] ?? '').split(' ').filter((scope) => scope !== '')
  const names = (JSON.parse(params['audiences'] ?? '[]') as string[]).map((audience) => nameOfResource(options, audience))
  const details = JSON.parse(params['details'] ?? '[]') as [label: string, value: string][][]
  const choices = JSON.parse(params['organizations'] ?? '[]') as [id: string, name: string][]
  const items = scopes.map((scope) => {
    const text = say(`authorization-server.scope.${scope}`)
    return html`<li>${text === '' ? (openidScopes.includes(scope) ? '' : scope) : text}</li>`
  })
  return {
    title: say('authorization-server.title', { client }),
    lead: say('authorization-server.lead', { who }),
    body: [
      logo !== undefined && html`<p><img src="${logo}" alt="" width="64" height="64" /></p>`,
      facts([
        [say('authorization-server.host'), html`<bdi>${host}</bdi> ${!isVerified && tag(say('authorization-server.unverified'), 'warn')}`],
        ...(params['organization'] === undefined
          ? []
          : [[say('authorization-server.organization.of'), html`<bdi>${params['organization']}</bdi>`] as const]),
        [say('authorization-server.resources'), names.length > 0 ? names.join(', ') : undefined],
      ]),
      scopes.length > 0 &&
        html`<p>${say('authorization-server.scopes', { client })}</p>
          <ul>
            ${items}
          </ul>`,
      ...details.map((lines) => facts(lines.map(([label, value]): [string, string] => [label, value]))),
      html`<p class="note">${say(isVerified ? 'authorization-server.warning' : 'authorization-server.stranger', { client, host })}</p>`,
      (policy !== undefined || terms !== undefined) &&
        html`<p class="note">
          ${policy !== undefined && html`<a href="${policy}" rel="noreferrer">${say('authorization-server.policy')}</a> `}${
            terms !== undefined && html`<a href="${terms}" rel="noreferrer">${say('authorization-server.terms')}</a>`
          }
        </p>`,
      await form(
        '/oauth2/consent',
        [
          choices.some(([id]) => id !== '') &&
            select('organization', {
              label: 'authorization-server.for',
              options: choices.map(([id, name]) => [
                id,
                id === '' ? say('authorization-server.forMe') : say('authorization-server.forAll', { organization: name }),
              ]),
            }),
          submit(say('authorization-server.allow'), { name: 'decision', value: 'allow' }),
          submit(say('authorization-server.deny'), { name: 'decision', value: 'deny', quiet: true }),
        ],
        { ticket },
      ),
      link(say('authorization-server.switch'), params['switch'] ?? ctx.base),
    ],
    forms: [target],
    ...(logo !== undefined && { sources: { img: [new URL(logo).origin] } }),
  }
}

function nameOfResource({ resources }: ResolvedOptions, audience: string): string {
  return [...resources.values()].find(({ resource }) => resource === audience)?.name ?? audience
}
