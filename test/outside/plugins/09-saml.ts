/**
 * A provider type `simple-saml`: AuthnRequest by redirect, Response by a cross-site POST, signed as HTTP-POST-SimpleSign does (the whole XML, no XML
 * signature). The subset of SAML 2.0 that a test needs; the parts around the kernel are those of a real one.
 */
import {
  type CommonProviderOptions,
  type Context,
  createPending,
  InvalidCheck,
  isSecureUrl,
  type Plugin,
  type Profile,
  type ProviderFlow,
  type ProviderOf,
  providerPlugin,
  randomHex,
  redirectTo,
  subjectOf,
  toBase64,
  type User,
  withParams,
} from 'authkernel/kernel'
import { readAssertion } from './_saml-xml.ts'

export interface SamlConfig extends CommonProviderOptions {
  type: 'simple-saml'
  /** Of the identity provider. */
  entityId: string
  /** Where people are sent: HTTP-Redirect binding. */
  ssoUrl: string
  /** Public key of its signatures: RSA or P-256, as JWK. */
  key: JsonWebKey
  /** Our own entity id; default: the URL of the metadata. */
  audience?: string | undefined
  profile?: ((attributes: Readonly<Record<string, string>>, nameId: string) => User) | undefined
}
declare module 'authkernel/kernel' {
  interface ProviderTypes {
    'simple-saml': SamlConfig
  }
}
type Saml = ProviderOf<'simple-saml'>

// The answer is a cross-site POST of the identity provider's page.
const pending = createPending<{ provider: string; to: string; by: string | null }>('saml', { seconds: 600, crossSite: () => true })
const destination = (ctx: Context, { id }: Saml): string => `${ctx.base}/callback/${id}`
const audienceOf = (ctx: Context, { audience, id }: Saml): string => audience ?? `${ctx.base}/saml/${id}/metadata`
const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

const flow: ProviderFlow<Saml> = {
  callback: { GET: false, POST: 'crossSite' },
  requires: ['once'],
  options: { entityId: true, ssoUrl: true, key: true, audience: true, profile: true },
  validate({ id, entityId, ssoUrl, key }) {
    if (!entityId) throw new Error(`samlPlugin: provider "${id}" needs entityId, the name of the identity provider.`)
    if (!URL.canParse(ssoUrl) || !isSecureUrl(new URL(ssoUrl)))
      throw new Error(`samlPlugin: ssoUrl of provider "${id}" must be an https URL.`)
    if (key?.kty !== 'RSA' && !(key?.kty === 'EC' && key.crv === 'P-256'))
      throw new Error(`samlPlugin: key of provider "${id}" must be a public RSA or P-256 key as JWK.`)
    if (key.d !== undefined) throw new Error(`samlPlugin: key of provider "${id}" is a private key; give the public one.`)
  },
  async start(ctx, provider) {
    const id = `_${randomHex(ctx.runtime, 16)}`
    await pending.add(ctx, id, { provider: provider.id, to: await ctx.callbackUrl(), by: await subjectOf(ctx) })
    const xml = `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${ctx.now.toISOString()}" AssertionConsumerServiceURL="${escape(destination(ctx, provider))}" ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST-SimpleSign"><saml:Issuer>${escape(audienceOf(ctx, provider))}</saml:Issuer></samlp:AuthnRequest>`
    const deflated = new Response(new Blob([xml]).stream().pipeThrough(new CompressionStream('deflate-raw')))
    const request = toBase64(new Uint8Array(await deflated.arrayBuffer()))
    return redirectTo(withParams(provider.ssoUrl, { SAMLRequest: request, RelayState: id }))
  },
  async finish(ctx, provider) {
    const { entityId: issuer, key } = provider
    const expected = { issuer, key, destination: destination(ctx, provider), audience: audienceOf(ctx, provider), now: ctx.now }
    const { id, inResponseTo, attributes, nameId } = await readAssertion(await ctx.form(), expected)
    const began = await pending.take(ctx, inResponseTo)
    if (began?.provider !== provider.id || !(await ctx.once.take(`saml ${provider.id} ${id}`, 600)))
      throw new InvalidCheck(`The answer of "${provider.id}" belongs to no sign-in of this browser.`)
    await ctx.callbackUrl(began.to)
    return {
      user: provider.profile?.(attributes, nameId) ?? { name: attributes['displayName'] ?? null, email: attributes['mail'] ?? null },
      account: { type: 'simple-saml', provider: provider.id, providerAccountId: nameId },
      profile: { ...attributes, sub: nameId } satisfies Profile,
      match: 'account',
      startedBy: began.by,
    }
  },
}

export const samlPlugin: (...providers: readonly Saml[]) => Plugin = providerPlugin({
  type: 'simple-saml',
  flow,
  defaults: { id: 'saml', name: 'SAML' },
  setup(kernel) {
    kernel.pending(pending)
    kernel.route({
      method: 'GET',
      path: '/saml/:provider/metadata',
      async handler(ctx) {
        const provider = await ctx.provider()
        if (provider.type !== 'simple-saml') return new Response('Not found', { status: 404 })
        const xml = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escape(audienceOf(ctx, provider))}"><SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST-SimpleSign" Location="${escape(destination(ctx, provider))}" index="0"/></SPSSODescriptor></EntityDescriptor>`
        return new Response(xml, { headers: { 'content-type': 'application/samlmetadata+xml' } })
      },
    })
  },
})
