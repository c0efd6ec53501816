/** Single logout (SAML Profiles section 4.4): requests that we send and requests of the identity provider. Both are signed. */
import { type Context, endSessions, redirectTo, type SessionAttributes, sha256, toHex } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/single-logout'
import { maxAge, readName } from './assertion.ts'
import { assertSame, Refusal } from './errors.ts'
import { samlProviderOf, withRefusal } from './finish.ts'
import { idpOf } from './idp.ts'
import { type Incoming, readIncoming, verifyIncoming } from './incoming.ts'
import { createId, deliver, type Delivery, type Outgoing, writeMessage } from './messages-out.ts'
import { entityIdOf, logoutUrlOf } from './metadata.ts'
import type { SamlConfig, SamlIdp } from './options.ts'
import { drawDelivery } from './pages.ts'
import { logouts, sessionName, type SessionName } from './pending.ts'
import { withXmlRefusal } from './response.ts'
import { acceptSha1 } from './symbols.ts'
import { assertBefore, assertSince } from './time.ts'
import { attributeOf, contentOf, elementsOf, isNamed, ns, requireChild } from './tree.ts'
import { escapeXml, type XmlElement } from './xml.ts'

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success'

/** Where the browser goes after a sign-out: to the identity provider, which comes back to `/saml/:provider/logout`. Undefined: it has no single logout. */
export async function leaveProvider(ctx: Context, { provider: id, sub }: SessionAttributes): Promise<string | undefined> {
  const provider = await ctx.providerById(id).catch(() => undefined)
  if (provider?.type !== 'saml' || !provider.signing) return undefined
  const idp = await idpOf(ctx, provider)
  const name = await sessionName.open<SessionName>(ctx)
  sessionName.delete(ctx)
  if (idp.signOutUrl === undefined || name?.provider !== id || name.sub !== sub) return undefined
  const messageId = createId(ctx)
  const attributes = Object.entries({ NameQualifier: name.idp, SPNameQualifier: name.sp, Format: name.format })
    .flatMap(([key, value]) => (value === undefined ? [] : [` ${key}="${escapeXml(value)}"`]))
    .join('')
  const index = name.index === undefined ? '' : `<samlp:SessionIndex>${escapeXml(name.index)}</samlp:SessionIndex>`
  const xml = writeMessage(ctx, 'LogoutRequest', {
    id: messageId,
    destination: idp.signOutUrl,
    issuer: entityIdOf(ctx, provider),
    attributes: { NotOnOrAfter: new Date(ctx.runtime.now() + 300_000).toISOString() },
    body: `<saml:NameID${attributes}>${escapeXml(name.nameId)}</saml:NameID>${index}`,
  })
  const entry = { provider: id, callbackUrl: await ctx.callbackUrl() }
  if (idp.signOutBinding === 'post') {
    // A sign-out answers a redirect: with HTTP-POST the request waits in this browser for a page of ours.
    await logouts.add(ctx, messageId, { ...entry, xml })
    return `${ctx.base}/saml/${id}/leave?id=${messageId}`
  }
  await logouts.add(ctx, messageId, entry)
  const { url } = await deliver(provider, { parameter: 'SAMLRequest', xml, url: idp.signOutUrl, binding: 'redirect' })
  return url
}

/** `GET /saml/:provider/leave`: posts the request of a sign-out of this browser to the identity provider. */
export async function postLogoutRequest(ctx: Context): Promise<Response> {
  const provider = await samlProviderOf(ctx)
  const id = ctx.url.searchParams.get('id')
  const entry = (await logouts.all(ctx)).find((one) => one.id === id && one.provider === provider.id)
  const { signOutUrl } = await idpOf(ctx, provider)
  // Opened again, or elsewhere: the sign-out here is done.
  if (entry?.xml === undefined || signOutUrl === undefined) return redirectTo(`${ctx.origin}/`)
  return show(ctx, await deliver(provider, { parameter: 'SAMLRequest', xml: entry.xml, url: signOutUrl, binding: 'post' }))
}

/** `GET|POST /saml/:provider/logout`. Throws SamlResponseRefused. */
export async function answerLogout(ctx: Context): Promise<Response> {
  const provider = await samlProviderOf(ctx)
  const incoming = await withRefusal(provider, async () => readIncoming(ctx))
  return incoming.parameter === 'SAMLRequest' ? answerRequest(ctx, provider, incoming) : finishLogout(ctx, provider, incoming)
}

/** The answer to our request: the session here ended before, so that all it does is to lead the browser on. */
async function finishLogout(ctx: Context, provider: SamlConfig, { root }: Incoming): Promise<Response> {
  const entry = await logouts.take(ctx, attributeOf(root, 'InResponseTo') ?? '')
  if (entry?.provider !== provider.id) return redirectTo(`${ctx.origin}/`)
  const code = elementsOf(root, [ns.protocol, 'Status']).flatMap((status) => elementsOf(status, [ns.protocol, 'StatusCode']))[0]
  if (!code || attributeOf(code, 'Value') !== success) ctx.logger.warn('saml-logout-partial')
  return redirectTo(entry.callbackUrl)
}

async function answerRequest(ctx: Context, provider: SamlConfig, incoming: Incoming): Promise<Response> {
  const idp = await withRefusal(provider, async () => {
    if (!provider.signing)
      throw new Refusal('Single logout needs signed answers.', {
        check: 'configuration',
        fix: 'Set `signing: { privateKey, certificate }`.',
      })
    return idpOf(ctx, provider)
  })
  const request = await withRefusal(provider, async () => {
    const tree = await verifyIncoming(ctx, incoming, { certificates: idp.certificates, sha1: provider[acceptSha1] === true })
    return withXmlRefusal(() => checkRequest(ctx, provider, idp, tree))
  })
  await endSessionsOf(ctx, provider, request)
  // Only after the effect: a request that was interrupted may come again, and ends nothing that began since it was issued.
  const message: Outgoing = {
    parameter: 'SAMLResponse',
    xml: writeMessage(ctx, 'LogoutResponse', {
      id: createId(ctx),
      destination: idp.signOutUrl ?? '',
      issuer: entityIdOf(ctx, provider),
      attributes: { InResponseTo: request.id },
      body: `<samlp:Status><samlp:StatusCode Value="${success}"/></samlp:Status>`,
    }),
    url: idp.signOutUrl ?? '',
    binding: idp.signOutBinding ?? 'redirect',
    relayState: incoming.relayState,
  }
  return show(ctx, await deliver(provider, message))
}

function show(ctx: Context, delivery: Delivery): Promise<Response> | Response {
  return delivery.fields ? drawDelivery(ctx, delivery) : redirectTo(delivery.url)
}

interface LogoutRequest {
  id: string
  nameId: string
  indexes: string[]
  /** Milliseconds since the epoch. */
  issued: number
}

function checkRequest(ctx: Context, provider: SamlConfig, idp: SamlIdp, tree: XmlElement): LogoutRequest {
  if (!isNamed(tree, [ns.protocol, 'LogoutRequest'])) throw new Refusal('The message is no logout request.', { check: 'form' })
  if (attributeOf(tree, 'Version') !== '2.0') throw new Refusal('The version is not 2.0.', { check: 'form' })
  if (idp.signOutUrl === undefined)
    throw new Refusal('The provider has no address for the answer.', { check: 'configuration', fix: 'Set `idp.signOutUrl`.' })
  assertSame('issuer', 'The issuer', contentOf(requireChild(tree, [ns.assertion, 'Issuer'])), idp.entityId, 'Set `idp.entityId` to it.')
  assertSame(
    'destination',
    '`Destination`',
    attributeOf(tree, 'Destination'),
    logoutUrlOf(ctx, provider),
    'Set our single logout address at the identity provider to the expected one.',
  )
  const clock = { now: ctx.runtime.now(), skew: (provider.clockSkew ?? 60) * 1000 }
  const issued = assertSince(attributeOf(tree, 'IssueInstant'), 'IssueInstant', clock)
  assertBefore(new Date(issued + maxAge).toISOString(), 'IssueInstant and ten minutes', clock)
  const end = attributeOf(tree, 'NotOnOrAfter')
  if (end !== undefined) assertBefore(end, 'NotOnOrAfter', clock)
  const { nameId } = readName(requireChild(tree, [ns.assertion, 'NameID']))
  const indexes = elementsOf(tree, [ns.protocol, 'SessionIndex']).map((one) => contentOf(one).slice(0, 255))
  if (indexes.length > 20) throw new Refusal('The logout request names more than 20 sessions.', { check: 'form' })
  return { id: attributeOf(tree, 'ID') ?? '', nameId, indexes, issued }
}

/** Sessions that began after the request was issued stay, so that a copy of it ends nothing new. */
async function endSessionsOf(ctx: Context, provider: SamlConfig, { id, nameId, indexes, issued }: LogoutRequest): Promise<void> {
  const now = ctx.runtime.now()
  const first = await ctx.once.take(`saml-logout ${toHex(await sha256(JSON.stringify([provider.id, id])))}`, Math.ceil((2 * maxAge) / 1000))
  const until = first ? now : Math.min(now, issued)
  // With the option `subject` accounts have another name than the NameID; sessions are found by their index alone.
  const named = provider.subject === undefined ? { sub: nameId } : undefined
  const own = await ctx.session.attributes?.(ctx)
  const isOwn =
    own?.provider === provider.id &&
    own.started <= until &&
    (indexes.length > 0 ? indexes.includes(own.sid ?? '') && (!named || own.sub === named.sub) : own.sub === named?.sub)
  const selectors =
    indexes.length > 0
      ? indexes.map((sid) => ({ provider: provider.id, sid, ...named, until }))
      : named
        ? [{ provider: provider.id, ...named, until }]
        : []
  for (const which of selectors) await endSessions(ctx, which, 'saml')
  if (isOwn) await ctx.session.end(ctx)
  if (!first || !ctx.has('on', 'providerLogout')) return
  for (const sid of indexes.length > 0 ? indexes : [undefined])
    await ctx.emit('providerLogout', { provider: provider.id, sub: named?.sub, sid, channel: 'front' })
}
