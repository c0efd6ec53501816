/** The Content-Security-Policy of a page, and what is collected for it while the page is drawn. docs/plugins/pages.md gives the reasons. */
import { AuthError, type Context, type Provider, type ProviderForm, type Sources, isLoopback } from 'authkernel/kernel'

/** Kinds of sources, as `Sources` has them and as the policy calls them. */
const sourceKinds = ['script', 'frame', 'connect', 'img', 'worker'] as const

/** What was drawn needs beyond the style and images of every page. */
export interface Needs {
  readonly sources: Readonly<Record<(typeof sourceKinds)[number], Set<string>>>
  readonly scripts: string[]
  /** A form was drawn. */
  form: boolean
  /** Providers to whose pages a form leads. */
  readonly away: Provider[]
  /** Buttons that were drawn: the first has the id that scripts of hosts know. */
  buttons: number
}

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

/** The needs of a page before anything is drawn. */
export function createNeeds(): Needs {
  const sources = {
    script: new Set<string>(),
    frame: new Set<string>(),
    connect: new Set<string>(),
    img: new Set<string>(),
    worker: new Set<string>(),
  }
  return { sources, scripts: [], form: false, away: [], buttons: 0 }
}

/** Notes what a part needs. Throws AuthError for a source that would open the policy further than to one host. */
export function noteNeeds(
  { sources: known, scripts: all }: Needs,
  { sources = {}, scripts = [] }: { sources?: Sources; scripts?: readonly string[] },
  who: string,
): void {
  for (const kind of sourceKinds) {
    for (const origin of sources[kind] ?? []) {
      if (!isOrigin(origin))
        throw new AuthError(
          `${who} names the ${kind} source ${JSON.stringify(origin)}: write an https origin, like "https://challenges.example".`,
        )
      known[kind].add(origin)
    }
  }
  all.push(...scripts)
}

/**
 * Where a form of authkernel may lead. Chromium and Safari apply `form-action` to every redirect that follows a submission. So the list names where the flow ends: the callback URL, the host's own pages, the redirects it allows.
 */
export async function ownTargets(ctx: Context, extra: readonly string[] = []): Promise<string[]> {
  const { allowedRedirects = [], pages } = ctx.app.config
  const urls = [ctx.origin, await ctx.callbackUrl(), ...allowedRedirects, ...Object.values(pages).filter((url) => url !== undefined)]
  return ["'self'", ...urls.map(sourceOf).filter((item) => item !== undefined), ...extra.map(sourceOf).filter((item) => item !== undefined)]
}

/**
 * Where a form may lead that leaves the site. A provider may hand on to others with more redirects (an enterprise's own login page, Auth0's `connection`). These cannot be listed, so any https address passes unless the host gave a list. Plain http passes by name only.
 */
export function providerTargets(providers: readonly Provider[], listed: readonly string[] | undefined): string[] {
  const plain = providers.flatMap(endpointsOf).filter((url) => /^http:/i.test(url))
  const named = [...plain, ...(listed ?? [])].map(sourceOf).filter((item) => item !== undefined)
  return listed ? named : ['https:', ...named]
}

/**
 * Whether a form leads to another site. One that posts to its own callback brings the proof along, and a magic link or code comes later; any other form
 * goes to the provider.
 */
export function leavesSite({ post, stays }: ProviderForm): boolean {
  return post === 'signin' && !stays
}

/**
 * The providers that proved the session, or the login that waits for a factor. Any form of a signed-in user may end at a page that asks for a fresh
 * proof, and this redirects to the provider: Chromium and Safari count it to the same submission.
 */
export async function providersOfProof(ctx: Context): Promise<Provider[]> {
  const quietly = async (ask: () => Promise<string | undefined>): Promise<Provider | undefined> => {
    try {
      const id = await ask()
      return id === undefined ? undefined : await ctx.providerById(id)
    } catch {
      // An outage, or a provider that is gone: the policy stays strict.
      return undefined
    }
  }
  const found = await Promise.all([
    quietly(async () => (await ctx.session.attributes?.(ctx))?.provider),
    quietly(async () => (await ctx.parked())?.login.account.provider),
  ])
  return found.filter((provider) => provider !== undefined).filter((provider) => leavesSite(formOf(ctx, provider)))
}

/** Where the address of a user may lead: any provider of the app, also those that are not on the page. */
export function realmTargets(ctx: Context, listed: readonly string[] | undefined): string[] {
  const all = [...ctx.app.providers.values()].filter((provider) => leavesSite(formOf(ctx, provider)))
  // Those that the hook `provider` answers cannot be listed. On the developer's own machine they may be on another port of it.
  const local = ctx.has('hook', 'provider') && isLoopback(new URL(ctx.origin).hostname)
  return [...providerTargets(all, listed), ...(local ? ['http://127.0.0.1:*', 'http://localhost:*'] : [])]
}

/** What a provider's type says about its form. */
export function formOf(ctx: Context, provider: Provider): ProviderForm {
  return ctx.flow(provider).form?.(provider) ?? { post: 'signin' }
}

/** A URL as a source expression: its origin, or its scheme where the grammar knows no such host. A `;` in it must not start a directive. */
export function sourceOf(url: string): string | undefined {
  // Any address of the scheme: a provider of a company may hand on to others, which cannot be listed.
  if (url === 'https:') return url
  if (!URL.canParse(url)) return undefined
  const { protocol, host } = new URL(url)
  if (!/^https?:$/.test(protocol)) return /^[a-z][a-z0-9+.-]*:$/.test(protocol) && !refusedSchemes.test(protocol) ? protocol : undefined
  // CSP has no source for IPv6 hosts.
  if (host.startsWith('[')) return protocol
  return /^[a-z0-9._-]+(:\d+)?$/.test(host) ? `${protocol}//${host}` : undefined
}

const refusedSchemes = /^(javascript|data|blob|filesystem|file|about):$/

function endpointsOf(provider: Provider): string[] {
  // Options differ by the type of provider, and are read by their name.
  const { issuer, wellKnown, authorization, redirectProxyUrl } = provider as unknown as Readonly<Record<string, unknown>>
  const url = typeof authorization === 'object' ? (authorization as { url?: unknown } | null)?.url : authorization
  return [issuer, wellKnown, url, redirectProxyUrl].filter((value) => typeof value === 'string')
}

/** One host over https: no path, no wildcard, no keyword, nothing that could start another directive. */
function isOrigin(text: unknown): boolean {
  return typeof text === 'string' && /^https:\/\/[a-z0-9.-]+(?::\d+)?$/.test(text) && URL.canParse(text) && new URL(text).origin === text
}
