/** Protection against cross-site requests: a double-submit token and a look at where the request comes from (D3, D30). */
import type { Context } from '../contract/context.ts'
import type { HandleOptions } from '../contract/entry-points.ts'
import { skipCSRFCheck } from '../contract/symbols.ts'
import { CrossSiteRequest } from '../errors/kernel-errors.ts'
import { AuthError, MissingCSRF } from '../errors/index.ts'
import { equal, randomHex } from '../keys/crypto.ts'

const purpose = 'csrf-token'
const proofPurpose = 'csrf-proof'
const half = 32

/** The token of the browser's cookie, or a new one; sets the cookie when it is new (rows 64, 65). Empty with `skipCSRFCheck`. */
export async function csrfToken(ctx: Context): Promise<string> {
  // It is never compared.
  if (ctx.app.config.skipCSRFCheck === skipCSRFCheck) return ''
  const existing = await validToken(ctx)
  if (existing !== undefined) return existing
  const token = await newToken(ctx)
  const { name, options } = ctx.cookies.csrfToken
  ctx.setCookie(name, `${token}|${await ctx.digest(purpose, token)}`, options)
  return token
}

/** What a form needs: its token now, and the callback URL for when it comes back without one (D43). */
export async function prepareForm(ctx: Context): Promise<string> {
  const { name, options } = ctx.cookies.callbackUrl
  const callbackUrl = await ctx.callbackUrl()
  if (ctx.cookie(name) !== callbackUrl) ctx.setCookie(name, callbackUrl, options)
  return csrfToken(ctx)
}

/**
 * Throws CrossSiteRequest or MissingCSRF. The token must be the one of the cookie. When the browser says that the request comes from the site itself, any token of this server is enough. Two requests of a new browser may each have fetched one, and only the later cookie is there.
 * `mode` origin: the browser's own word replaces the token, for clients that send none.
 */
export async function assertSameSite(ctx: Context, mode: HandleOptions['csrf'] = 'token'): Promise<void> {
  if (ctx.app.config.skipCSRFCheck === skipCSRFCheck) return
  const word = readProvenance(ctx)
  if (word === 'foreign') {
    throw new CrossSiteRequest(
      `A cross-site POST to ${new URL(ctx.request.url).pathname} was rejected: its Origin or Sec-Fetch-Site is not ${ctx.origin}. ` +
        'Behind a proxy, set AUTH_URL (or trust the proxy) so that the own origin is known.',
    )
  }
  if (mode !== 'token' && mode !== 'origin')
    throw new AuthError(`auth.handler: \`csrf\` must be "token" or "origin", not ${JSON.stringify(mode)}.`)
  if (mode === 'origin') {
    if (word === 'own') return
    throw new CrossSiteRequest('A POST without Origin and Sec-Fetch-Site was rejected: this binding takes its protection from them.')
  }
  const token = await validToken(ctx)
  const { csrfToken: sent } = await ctx.body()
  if (typeof sent === 'string') {
    if (token !== undefined && equal(token, sent)) return
    if (word === 'own' && (await isIssued(ctx, sent))) return
  }
  throw new MissingCSRF('The CSRF token was missing or wrong. Get one from /csrf, send it as csrfToken, and keep its cookie.')
}

/**
 * Whether the browser says that another site sent the request, by `Origin` and `Sec-Fetch-Site`. A request of an app, which sends neither, is none. For routes
 * without CSRF token: a page of another site cannot send JSON there without a preflight.
 */
export function isCrossSite(ctx: Context): boolean {
  return readProvenance(ctx) === 'foreign'
}

/** 16 random bytes and 16 bytes of their keyed hash, in hex: as long as the tokens of Auth.js, which are random alone. */
async function newToken(ctx: Context): Promise<string> {
  const nonce = randomHex(ctx.runtime, half / 2)
  return nonce + (await ctx.digest(proofPurpose, nonce)).slice(0, half)
}

async function isIssued(ctx: Context, token: string): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/.test(token)) return false
  for (const expected of await ctx.digests(proofPurpose, token.slice(0, half))) {
    if (equal(expected.slice(0, half), token.slice(half))) return true
  }
  return false
}

/** What the browser says; 'unknown' is not a browser. */
function readProvenance(ctx: Context): 'own' | 'foreign' | 'unknown' {
  const site = ctx.request.headers.get('sec-fetch-site')
  const origin = ctx.request.headers.get('origin')
  if (site !== null && site !== 'same-origin' && site !== 'none') return 'foreign'
  // "none" says that no site asked, which is less than that ours did.
  if (origin === null) return site === 'same-origin' ? 'own' : 'unknown'
  // "null" is what a form of a page with `Referrer-Policy: no-referrer` sends, to its own site too: then the browser's other word counts.
  if (origin === ctx.origin || (origin === 'null' && site === 'same-origin')) return 'own'
  // A TLS-terminating proxy changes the scheme we see, and the browser vouches for the rest.
  const host = URL.canParse(origin) ? new URL(origin).host : undefined
  return site === 'same-origin' && host === new URL(ctx.origin).host ? 'own' : 'foreign'
}

async function validToken(ctx: Context): Promise<string | undefined> {
  const value = ctx.cookie(ctx.cookies.csrfToken.name)
  if (value === undefined) return undefined
  const [token = '', digest = '', ...rest] = value.split('|')
  if (!/^[0-9a-f]{64}$/.test(token) || rest.length > 0) return undefined
  for (const expected of await ctx.digests(purpose, token)) if (equal(expected, digest)) return token
  return undefined
}
