/** Who may open the panel: the browser of the developer, on this machine, and no page of another site. */
import { type Context, equal, HttpError, isLoopback } from 'authkernel/kernel'
import { panelCookie } from './state.ts'

/**
 * Whether a request came to a loopback host from this machine, as far as anything in it says. The host is compared because a site can point its name at
 * 127.0.0.1 (DNS rebinding). What proxies say counts whether they are trusted or not: it can only close the panel.
 */
export function isAllowed(ctx: Context): boolean {
  const { headers, url } = ctx.request
  const hosts = [
    url,
    ctx.origin,
    ...listOf(headers.get('host')),
    ...listOf(headers.get('x-forwarded-host')),
    ...readForwarded(headers, 'host'),
  ]
  const addresses = [ctx.clientAddress ?? '', ...listOf(headers.get('x-forwarded-for')), ...readForwarded(headers, 'for')]
  return hosts.every(isLocalHost) && addresses.every((address) => address === '' || isLocalAddress(address))
}

/**
 * Throws HttpError 404 for another host or machine, and 403 for a request of another site and for a browser without the key. The key keeps out who sends
 * the header `Host: localhost` over the network, and what reaches the app through a proxy that says nothing.
 */
export async function requirePanel(ctx: Context): Promise<void> {
  if (!isAllowed(ctx)) throw new HttpError(404, 'The development panel answers on localhost only.')
  if (isForeign(ctx.request.headers)) throw new HttpError(403, 'The development panel answers no requests of other sites.')
  const key = panelCookie.get(ctx)
  if (key === undefined || !(await isKey(ctx, key)))
    throw new HttpError(403, 'Open the link to the development panel that the terminal of the app shows: it ends with ?key=…')
}

/** Whether a text is the key of this app. */
export async function isKey(ctx: Context, key: string): Promise<boolean> {
  const wanted = await panelKey(ctx)
  return key.length === wanted.length && equal(key, wanted)
}

/** The same after a restart, and known to nothing but the secret. */
export async function panelKey(ctx: Context): Promise<string> {
  return (await ctx.digest('dev-panel', 'key')).slice(0, 32)
}

/** A page of another site or of another port: requests of the panel come from itself, or from a link that the user typed or clicked outside of the browser. */
export function isForeign(headers: Headers): boolean {
  const site = headers.get('sec-fetch-site')
  return site !== null && site !== 'same-origin' && site !== 'none'
}

function isLocalHost(host: string): boolean {
  const url = host.includes('://') ? host : `http://${host}`
  return URL.canParse(url) && isLoopback(new URL(url).hostname)
}

function isLocalAddress(address: string): boolean {
  const plain = address.replace(/^\[|\](?::\d+)?$/g, '').replace(/^::ffff:/i, '')
  return plain === '::1' || isLoopback(plain.replace(/:\d+$/, ''))
}

function listOf(header: string | null): string[] {
  return (header ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
}

function readForwarded(headers: Headers, name: 'host' | 'for'): string[] {
  const values = (headers.get('forwarded') ?? '').matchAll(new RegExp(`${name}="?([^";,\\s]+)`, 'gi'))
  return [...values].map(([, value]) => value ?? '')
}
