/** Registration: no user is created from a typed address before its owner has opened the mail. */
import { type AdapterUser, type Context, endSessions, toAddress } from 'authkernel/kernel'
import { orPage, PasswordRefused } from './errors.ts'
import { activateParked } from './imported-passwords.ts'
import type { Parts } from './options.ts'
import { askForProof, browserCookie, isAsker } from './pending.ts'
import { acceptNew } from './policy.ts'
import { storePassword, type StoredUser } from './store-password.ts'
import { findByToken, passwordOf } from './tables.ts'

/** The form of the page. Its path is the path of the method `signUp` of the client. */
export async function signUpForm(ctx: Context, parts: Parts): Promise<Response> {
  const sent = await ctx.body()
  const email = toAddress(sent['email'])
  return orPage(ctx, 'passwordSignUp', () => signUp(ctx, parts, sent), { email })
}

/** Mails a link; the answer is the same for every address. Throws PasswordRefused. */
export async function signUp(ctx: Context, { options, hasher }: Parts, sent: Record<string, unknown>): Promise<Response> {
  const { email, password } = sent
  const address = toAddress(email)
  if (address === undefined) throw new PasswordRefused('PasswordAddress')
  const found = await acceptNew(ctx, options, password, { email: address }, await options.secondFactor({ email: address }))
  if ('error' in found) throw new PasswordRefused(found.error)
  // The same work, cookie and answer for every address.
  return askForProof(ctx, { address, hash: await hasher.hash(found.password), ...profileOf(sent) })
}

/** A name and a picture that the visitor gave. What is no name or no address of a picture is left out. */
function profileOf({ name, image }: Record<string, unknown>): { name?: string; image?: string } {
  const typed = typeof name === 'string' ? name.normalize('NFC').replaceAll(/\p{C}/gu, '').trim() : ''
  const url = typeof image === 'string' && image.length <= 2048 && URL.canParse(image) ? new URL(image) : undefined
  return {
    ...(typed !== '' && typed.length <= 255 && { name: typed }),
    ...(url && (url.protocol === 'https:' || url.protocol === 'http:') && { image: url.href }),
  }
}

/** The link of the mail was opened, and the form of its page sent. */
export async function confirmSignUp(ctx: Context, { options, hasher }: Parts): Promise<Response> {
  const { token, password, without } = await ctx.body()
  const pending = await findByToken(ctx, 'pending', token)
  if (!pending) return ctx.render('passwordConfirm', { error: 'PasswordLinkInvalid' })
  const { address } = pending
  let chosen: { hash: string; short: boolean } | undefined
  const sameBrowser = await isAsker(ctx, pending)
  if (sameBrowser) chosen = { hash: pending.hash, short: pending.short ?? (await options.secondFactor({ email: address })) }
  else if (without !== '1') {
    const found = await acceptNew(ctx, options, password, { email: address }, await options.secondFactor({ email: address }))
    if ('error' in found) return ctx.render('passwordConfirm', { error: found.error, token: String(token) })
    chosen = { hash: await hasher.hash(found.password), short: found.short }
  }
  // One of many callers goes on.
  if (!(await ctx.records('passwordPending').take({ token: pending.token })))
    return ctx.render('passwordConfirm', { error: 'PasswordLinkInvalid' })
  // The address has a user meanwhile, who signs in or resets the password.
  const present = await ctx.service('store').getUserByEmail(address)
  if (present?.emailVerified) return ctx.render('passwordConfirm', { error: 'PasswordLinkInvalid' })
  await ctx.records('passwordPending').deleteWhere({ where: { address } })
  browserCookie.delete(ctx)
  // A user who only typed the address loses it before there is a password.
  if (present) await endSessions(ctx, { userId: present.id }, 'passwords')
  const activated = present && chosen && sameBrowser && pending.userId === present.id && (await activateParked(ctx, present, chosen))
  const response = await ctx.complete({
    // Another browser may be that of the owner, and the name that of a stranger.
    user: {
      email: address,
      ...(sameBrowser && pending.name && { name: pending.name }),
      ...(sameBrowser && pending.image && { image: pending.image }),
    },
    account: { provider: 'passwords', providerAccountId: address, type: 'passwords' },
    match: 'email',
    proof: { amr: chosen ? ['pwd', 'email'] : ['email'] },
    onLinked: async (user) => {
      const linked = user as StoredUser
      if (chosen && !(await passwordOf(ctx, linked.id))) await storePassword(ctx, linked, chosen, { keepSessions: true })
    },
  })
  const owner = chosen && present && !activated ? ((await ctx.service('store').getUserByEmail(address)) as StoredUser | null) : null
  // Not proved: the `signIn` callback led elsewhere, and the password must not sign in.
  if (chosen && owner?.id === present?.id && owner && (owner as AdapterUser).emailVerified)
    await storePassword(ctx, owner, chosen, { keepSessions: true })
  return response
}
