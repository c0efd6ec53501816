/** Which account of the browser answers a client: `prompt=select_account`, `login_hint`, and the user that a request names. */
import { type Context, sha256, toHex, type User } from 'authkernel/kernel'
import { subjectFor } from './claims.ts'
import type { Client } from './clients.ts'
import type { ResolvedOptions } from './options.ts'
import type { AuthorizationRequest } from './request.ts'

const purpose = 'authorization-server.account'
const ticketSeconds = 600

/** Leads to the account switcher and back, once for a request. Undefined: the user has chosen, or there is no switcher: then the consent page offers it. */
export async function chooseAccount(ctx: Context, request: AuthorizationRequest): Promise<Response | undefined> {
  if (!request.prompt.includes('select_account') || !hasSwitcher(ctx)) return undefined
  const own = toHex(await sha256(JSON.stringify(request)))
  const sealed = ctx.url.searchParams.get('account')
  const ticket = sealed === null ? null : await ctx.open<{ request: string }>(purpose, sealed)
  if (ticket?.request === own) return undefined
  const back = new URL(ctx.url)
  back.searchParams.set('account', await ctx.seal(purpose, { request: own }, ticketSeconds))
  return ctx.page('switch', { callbackUrl: back.href })
}

/** Whether `multiSessionPlugin` keeps several accounts in this browser. */
export function hasSwitcher(ctx: Context): boolean {
  return ctx.app.parts.pages.has('switch')
}

/** Whether the user is the one that the request names by `id_token_hint` or the claim `sub`. A request that names none fits every user. */
export async function isNamedUser(
  ctx: Context,
  options: ResolvedOptions,
  client: Client,
  { subject, idTokenHint }: AuthorizationRequest,
  { id }: User & { id: string },
): Promise<boolean> {
  const sub = await subjectFor(options, client, id)
  if (subject !== undefined && subject !== sub) return false
  if (idTokenHint === undefined) return true
  // An old ID token is a hint all the same: its end is not compared.
  const claims = await ctx.service('signingKeys').open(ctx, 'JWT', idTokenHint)
  return claims?.['iss'] === ctx.base && claims['aud'] === client.id && claims['sub'] === sub
}

/** The sign-in page, which has the hint in its field, and speaks the language that the client wishes. */
export function leadToSignIn(ctx: Context, { loginHint, uiLocales }: AuthorizationRequest): Response {
  return ctx.page('signIn', { callbackUrl: ctx.url.href, email: loginHint, ui_locales: uiLocales })
}
