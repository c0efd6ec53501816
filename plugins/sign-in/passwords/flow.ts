/** Sign-in with an address and a password. */
import {
  type Context,
  CredentialsSignin,
  type AdapterUser,
  type Identity,
  type Kernel,
  type ProviderFlow,
  type Row,
  toAddress,
} from 'authkernel/kernel'
import type { Parts } from './options.ts'
import { isShort, normalizePassword } from './policy.ts'
import { askOwner } from './imported-passwords.ts'
import { askLegacy, type Newcomer } from './legacy.ts'
import { askForProof } from './pending.ts'
import { refreshShared, sharePassword } from './shared-passwords.ts'
import { passwordOf, type PasswordRow, rowId } from './tables.ts'
import { withThrottle } from './throttle.ts'

/** The provider of this plugin. */
export interface PasswordsConfig {
  /** Always `passwords`. */
  id: string
  /** Label on the sign-in page. */
  name: string
  /** Sign-in by address and password. */
  type: 'passwords'
}

declare module 'authkernel/kernel' {
  interface ProviderTypes {
    passwords: PasswordsConfig
  }
}

export const emailField = {
  label: 'Email',
  type: 'email',
  required: true,
  autocomplete: 'username',
  maxlength: 254,
  autocapitalize: 'none',
  spellcheck: 'false',
}

/** The provider type `passwords`. */
export function passwordsFlow(kernel: Kernel, parts: Parts): ProviderFlow<PasswordsConfig> {
  return {
    // A GET would put a password into a URL.
    callback: { GET: false, POST: 'token' },
    options: { id: true, name: true, type: true },
    form: () => ({
      post: 'callback',
      fields: {
        email: hasNames(kernel) ? nameField : emailField,
        password: { label: 'Password', type: 'password', required: true, autocomplete: 'current-password' },
      },
    }),
    // By a mailed link, of a registration or a reset.
    provesAddress: () => true,
    canSignIn: async (ctx, _provider, user) => (await passwordOf(ctx, user.id)) !== null,
    // Of an unproved user it is always a parked one: no other is stored before a proof.
    typed: async (ctx, user) => ((await passwordOf(ctx, user.id)) ? 'dormant' : false),
    revokeUnverified: async (ctx, user) => {
      const id = await rowId(user.id)
      await ctx.records('passwordReset').delete(id)
      return ctx.records('password').delete(id)
    },
    finish: (ctx) => signIn(ctx, parts),
  }
}

const nameField = { ...emailField, label: 'Email or username', type: 'text' }

// The plugin of names may be absent.
function hasNames(kernel: Kernel): boolean {
  try {
    return kernel.service('userNames') !== undefined
  } catch {
    return false
  }
}

/** Whether this is the password of the user. A hash of another form is replaced after a right one. `row` null: the same work without a user. */
export async function isRight(
  ctx: Context,
  { hasher, options: { minLength } }: Parts,
  row: Row<PasswordRow> | null,
  typed: unknown,
): Promise<boolean> {
  const found = normalizePassword(typed)
  if ('error' in found) return false
  const { password } = found
  if (!row) {
    await hasher.pretend(password)
    return false
  }
  if (!(await hasher.verify(password, typed as string, row.hash))) return false
  const current = await hasher.isCurrent(row.hash)
  const short = isShort(password, minLength)
  if (current && row.short === short) return true
  const change = { hash: current ? row.hash : await hasher.hash(password), short }
  if (await ctx.records('password').update(row.id, change, { if: { hash: row.hash } })) {
    if (!current) await ctx.emit('noted', { name: 'password.rehashed', outcome: 'success', user: { id: row.userId } })
    return true
  }
  // Another request was faster: a sign-in that did the same, or a change, after which this password counts no longer.
  const now = await ctx.records('password').get(row.id)
  return now !== null && hasher.verify(password, typed as string, now.hash)
}

async function signIn(ctx: Context, parts: Parts): Promise<Identity | Response> {
  // Before any password is checked: its cookie would tell which sign-in was refused.
  await ctx.callbackUrl()
  const { email, password } = await ctx.body()
  const address = toAddress(email) ?? typedUserName(ctx, email)
  if (address === undefined || typeof password !== 'string' || password === '')
    throw wrongCredentials(
      typeof email === 'string' && email !== '' && !email.includes('@') && !ctx.app.services.userNames
        ? 'The sign-in has a username, and no plugin knows usernames: use usernamesPlugin().'
        : 'The sign-in has no address or no password.',
    )
  const found = await withThrottle(ctx, address, () => findPasswordOwner(ctx, parts, address, password))
  if (!found) throw wrongCredentials('The address or the password is wrong.')
  if ('hash' in found) return receiveNewcomer(ctx, address, found as Newcomer)
  const user = found as AdapterUser
  // The password may be that of a visitor who typed the address first: the mailbox decides.
  if (user.email && !user.emailVerified) return askOwner(ctx, parts, user, password)
  const account = { provider: 'passwords', providerAccountId: String(user.id), type: 'passwords' as const, userId: String(user.id) }
  return { user, account, match: 'none', proof: { amr: ['pwd'] } }
}

/** The former service knows the password, and no user here has the address. Where that service has not verified it, a magic link decides. */
async function receiveNewcomer(ctx: Context, address: string, newcomer: Newcomer): Promise<Identity | Response> {
  const { hash, short, emailVerified, name, image } = newcomer
  if (!emailVerified) return askForProof(ctx, { address, hash, short })
  return {
    user: { email: address, ...(name != null && { name }), ...(image != null && { image }) },
    account: { provider: 'passwords', providerAccountId: address, type: 'passwords' },
    match: 'email',
    proof: { amr: ['pwd'] },
    onLinked: async (user) => {
      const { id } = user as AdapterUser
      // Another request made the user meanwhile, and its password is the one.
      if (await passwordOf(ctx, id)) return
      await ctx.records('password').create({ id: await rowId(id), userId: id, hash, short, changed: ctx.now })
      await ctx.service('legacyPasswords').stopAsking(ctx, id)
      await ctx.emit('noted', { name: 'password.legacy', outcome: 'success', user: { id } })
    },
  }
}

async function findPasswordOwner(ctx: Context, parts: Parts, address: string, typed: string): Promise<AdapterUser | Newcomer | null> {
  const byAddress = address.includes('@')
  const user = byAddress
    ? await ctx.service('store').getUserByEmail(address)
    : ((await ctx.service('userNames').find(ctx, address)) as AdapterUser | null)
  // Before the hash: a password that changes meanwhile does not sign in. The same work for addresses without a user.
  await ctx.access.stamp(`user:${user?.id ?? ''}`)
  const { lacks } = await refreshShared(ctx, user?.id ?? '')
  const found = user ? await passwordOf(ctx, user.id) : null
  // The address was proved in another way, or is gone: a parked password has no owner.
  const row = found?.parked && (user?.emailVerified || !user?.email) ? null : found
  if (await isRight(ctx, parts, row, typed)) {
    // One that was taken from there and is gone there was removed.
    if (lacks && user && row && !row.parked && !row.imported) await sharePassword(ctx, parts, user.id, typed)
    return user
  }
  // Only where nothing is stored: a hash that is here decides, also one that is parked. A username that is unknown has no address to be made a user of.
  if (found || (!user && !byAddress)) return null
  return askLegacy(ctx, parts, { name: address, user, password: typed }, (stored) => isRight(ctx, parts, stored, typed))
}

/** A name has no "@": no name is the address of a user. */
function typedUserName(ctx: Context, typed: unknown): string | undefined {
  if (!ctx.app.services.userNames || typeof typed !== 'string' || typed.length > 128 || typed.includes('@')) return undefined
  const name = typed.trim().normalize('NFKC').toLowerCase()
  return name === '' ? undefined : name
}

function wrongCredentials(message: string): CredentialsSignin {
  return new CredentialsSignin(message, { cause: { provider: 'passwords' } })
}
