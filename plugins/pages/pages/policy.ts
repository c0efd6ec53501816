/** The Content-Security-Policy of a page. docs/plugins/pages.md writes it down and says why. */
import type { Context, Provider } from 'authkernel/kernel'
import type { Needs } from './needs.ts'

/** What a page may do beyond its style and images. */
export interface Permissions {
  /** Sources of `form-action`; none: the page has no form. */
  forms?: readonly string[]
  /** The page runs a script, which talks to the own origin. */
  script?: boolean
  /** Origins that widgets need. */
  sources?: Needs['sources']
}

/** The header's value. */
export function contentSecurityPolicy(nonce: string, { forms, script, sources }: Permissions): string {
  const hosts = (kind: keyof Needs['sources']): string => [...(sources?.[kind] ?? [])].map((origin) => ` ${origin}`).join('')
  const only = (directive: string, kind: keyof Needs['sources'], own: string | false | undefined): string | false => {
    const listed = hosts(kind)
    return (own || listed !== '') && `${directive}${own ? ` ${own}` : ''}${listed}`
  }
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    only('img-src', 'img', "'self' data:"),
    only('script-src', 'script', script && `'nonce-${nonce}'`),
    only('connect-src', 'connect', script && "'self'"),
    only('frame-src', 'frame', undefined),
    only('worker-src', 'worker', undefined),
    `form-action ${forms ? [...new Set(forms)].join(' ') : "'none'"}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
    .filter(Boolean)
    .join('; ')
}

/**
 * Where a form of ours may lead. Chromium and Safari hold `form-action` against every redirect that follows a submission, so the list names
 * where the flow ends: the callback URL, the host's own pages, the redirects it allows.
 */
export async function ownTargets(ctx: Context, extra: readonly string[] = []): Promise<string[]> {
  const { allowedRedirects = [], pages } = ctx.app.config
  const urls = [ctx.origin, await ctx.callbackUrl(), ...allowedRedirects, ...Object.values(pages).filter((url) => url !== undefined)]
  return ["'self'", ...urls.map(source).filter((item) => item !== undefined), ...extra.map(source).filter((item) => item !== undefined)]
}

/**
 * Where a form may lead that leaves the site. A provider may hand on to others with more redirects (an enterprise's own login page, Auth0's
 * `connection`), which nobody can list, so any https address passes unless the host gave a list. Plain http passes by name only.
 */
export function providerTargets(providers: readonly Provider[], listed: readonly string[] | undefined): string[] {
  const plain = providers.flatMap(endpoints).filter((url) => /^http:/i.test(url))
  const named = [...plain, ...(listed ?? [])].map(source).filter((item) => item !== undefined)
  return listed ? named : ['https:', ...named]
}

/** A URL as a source expression: its origin, or its scheme where the grammar knows no such host. A `;` in it must not start a directive. */
export function source(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { protocol, host } = new URL(url)
  if (!/^https?:$/.test(protocol)) return /^[a-z][a-z0-9+.-]*:$/.test(protocol) && !refused.test(protocol) ? protocol : undefined
  // CSP has no source for IPv6 hosts.
  if (host.startsWith('[')) return protocol
  return /^[a-z0-9._-]+(:\d+)?$/.test(host) ? `${protocol}//${host}` : undefined
}

const refused = /^(javascript|data|blob|filesystem|file|about):$/

function endpoints(provider: Provider): string[] {
  const { issuer, wellKnown, authorization, redirectProxyUrl } = provider as unknown as Readonly<Record<string, unknown>>
  const url = typeof authorization === 'object' ? (authorization as { url?: unknown } | null)?.url : authorization
  return [issuer, wellKnown, url, redirectProxyUrl].filter((value) => typeof value === 'string')
}
