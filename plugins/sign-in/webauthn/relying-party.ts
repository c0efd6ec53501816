/** The site that asks for a passkey: WebAuthn section 4, "Relying Party Identifier". */
import { type Context, json, type ProviderOf } from 'authkernel/kernel'

/** Everything that an answer is compared with. */
export interface Party {
  /** The id to name in options: the one that the browser's host belongs to. */
  id: string
  name: string
  /** All ids and origins that are accepted (row 255). */
  ids: string[]
  origins: string[]
}

/** The provider's relying party; by default host name, host and origin of the own URL (row 254). */
export async function relyingParty(ctx: Context, provider: ProviderOf<'webauthn'>): Promise<Party> {
  const given = provider.getRelayingParty
    ? await provider.getRelayingParty(providerOptions(ctx, provider), ctx.request)
    : provider.relayingParty
  const host = ctx.url.hostname
  const ids = listOf(given?.id, host)
  const id = ids.find((one) => host === one || host.endsWith(`.${one}`)) ?? ids[0] ?? host
  return { id, ids, name: listOf(given?.name, ctx.url.host)[0] ?? host, origins: listOf(given?.origin, ctx.origin) }
}

/** `GET /.well-known/webauthn`: origins that may use the passkeys of this site (WebAuthn Level 3, section 5.11). 404 where the passkeys are those of this origin alone: a browser then asks no further. */
export async function answerRelatedOrigins(ctx: Context): Promise<Response> {
  const providers = [...ctx.app.providers.values()].filter((one): one is ProviderOf<'webauthn'> => one.type === 'webauthn')
  const parties = await Promise.all(providers.map((provider) => relyingParty(ctx, provider)))
  // Apps sign with origins of another form, which are none that a page could have.
  const origins = [...new Set(parties.flatMap((party) => party.origins))].filter((origin) => origin.startsWith('https://'))
  return origins.some((origin) => origin !== ctx.origin) ? json({ origins }) : json({ error: 'Not found' }, 404)
}

/** First argument of `getRelayingParty` and `getUserInfo`. */
export function providerOptions(ctx: Context, provider: ProviderOf<'webauthn'>): Record<string, unknown> {
  return { provider, adapter: ctx.store, url: ctx.url }
}

function listOf(value: string | readonly string[] | undefined, otherwise: string): string[] {
  const all = typeof value === 'string' ? [value] : [...(value ?? [])]
  return all.length > 0 ? all : [otherwise]
}
