/** `client.sessions`, `client.accounts`, `client.profile` and `client.user`: what users who are signed in do themselves, from a page. */
import {
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  HttpError,
  json,
  type Kernel,
  proveAgain,
  readFields,
  toLocalPath,
  type Wire,
} from 'authkernel/kernel'
import { hasFreshProof } from 'authkernel/kernel/strategies'
import { findOwnUser } from 'authkernel/kernel/users'
import { type DataExport, exportData } from './data-export.ts'
import { StepUpRequired } from './errors.ts'
import { skipLinkProof } from './link-proof.ts'
import type { LinkedAccount } from './linked-account.ts'
import type { AccountsApi } from './methods.ts'
import type { ListedSession } from './methods-sessions.ts'
import { changeProfile, checkChange, type Profile, toProfile } from './profile.ts'

/**
 * The methods of `accountsPlugin({ routes: true })`. Each rejects with status 401 when signed out, and with `AccessDenied` (403) for an API key, an app, and an
 * administrator who acts as the user. What a stolen session must not do rejects with `StepUpRequired` (403) when the proof is older than 5 minutes.
 */
export type AccountsClient = ClientPart<{
  readonly sessions: {
    /** The newest first. */
    list(): Promise<Wire<ListedSession>[]>
    /** Ends the session of an id from `list`; false: there is none. */
    revoke(input: { id: string }): Promise<boolean>
    /** Ends all but this one. */
    revokeOthers(): Promise<boolean>
  }
  readonly accounts: {
    /** Without tokens. */
    list(): Promise<LinkedAccount[]>
    /** Begins to link an account: go to `url`. `redirectTo` is a path of this site, to come back to; default `/`. Rejects with `StepUpRequired`. */
    link(input: { provider: string; redirectTo?: string }): Promise<{ url: string }>
    /** Takes an account away. Rejects with `StepUpRequired`, and with `LastAccount` (409) for the last one. False: there is none. */
    unlink(input: Pick<LinkedAccount, 'provider' | 'providerAccountId'>): Promise<boolean>
  }
  readonly profile: {
    get(): Promise<Profile>
    /** Changes fields that `editable` names; null clears one. Rejects with `InvalidInput` (400), whose `issues` name the fields. */
    update(input: { name?: string | null; image?: string | null; [field: string]: unknown }): Promise<Profile>
  }
  readonly user: {
    /** Where to go for a fresh proof, and back to the path `redirectTo` (default `/`). `url` null: the proof is fresh. */
    prove(input: { redirectTo?: string }): Promise<{ url: string | null }>
    /** Everything that is kept about the user. Rejects with `StepUpRequired`. */
    export(): Promise<Wire<DataExport>>
    /** Deletes the user with all data, and ends the session. Rejects with `StepUpRequired`, and with the error of a plugin that rejects. */
    delete(): Promise<boolean>
  }
}>

/** Seconds: a session that was left open, or stolen, takes nothing away. */
const maxProofAge = 300

/** Adds the methods. They call those of the server with the request, which look up whose it is once more. */
export function addClientMethods(
  kernel: Kernel,
  { accounts, sessions, users }: AccountsApi,
  linkProof: number | typeof skipLinkProof,
): AccountsClient {
  clientMethods(kernel, 'sessions', {
    list: clientMethod(async (ctx) => (await requireUserId(ctx), sessions.list(ctx.request))),
    revoke: clientMethod(
      (sent) => ({ id: readText(sent, 'id', 128) }),
      async (ctx, { id }) => (await requireUserId(ctx), sessions.revoke(ctx.request, id)),
    ),
    revokeOthers: clientMethod(async (ctx) => (await requireUserId(ctx), sessions.revokeOthers(ctx.request))),
  })
  clientMethods(kernel, 'accounts', {
    list: clientMethod(async (ctx) => (await requireUserId(ctx), accounts.list(ctx.request))),
    link: clientMethod(
      (sent) => ({ provider: readText(sent, 'provider', 128), redirectTo: readPath(sent) }),
      async (ctx, input) => {
        if (linkProof !== skipLinkProof) await requireFreshProof(ctx, 'accounts.link')
        return linkAccount(ctx, input)
      },
    ),
    unlink: clientMethod(
      (sent) => ({ provider: readText(sent, 'provider', 128), providerAccountId: readText(sent, 'providerAccountId', 1024) }),
      async (ctx, account) => (await requireFreshProof(ctx, 'accounts.unlink'), accounts.unlink(ctx.request, account)),
    ),
  })
  clientMethods(kernel, 'profile', {
    get: clientMethod(async (ctx) => {
      const user = await ctx.service('store').getUser(await requireUserId(ctx))
      return user ? toProfile(ctx.service('store'), user) : refuseVisitor()
    }),
    update: clientMethod(readFields, updateProfile),
  })
  clientMethods(kernel, 'user', {
    prove: clientMethod(
      (sent) => ({ redirectTo: readPath(sent) }),
      async (ctx, { redirectTo }) => (
        await requireUserId(ctx),
        (await proveAgain(ctx, maxProofAge, ctx.origin + redirectTo)) ?? { url: null }
      ),
    ),
    export: clientMethod(async (ctx) => (await exportData(ctx, await requireFreshProof(ctx, 'user.export'))) ?? refuseVisitor()),
    delete: clientMethod(async (ctx) => {
      await requireFreshProof(ctx, 'user.delete')
      const deleted = await users.delete(ctx.request)
      const ended = await ctx.session.end(ctx)
      if (ended) await ctx.emit('signOut', ended)
      return deleted
    }),
  })
  return {}
}

async function linkAccount(ctx: Context, { provider: id, redirectTo }: { provider: string; redirectTo: string }): Promise<Response> {
  const userId = await requireUserId(ctx)
  const provider = await ctx.providerById(id)
  const flow = ctx.flow(provider)
  if (!flow.start) throw new HttpError(400, `The provider "${id}" is not one that an account is linked by a redirect to.`)
  ctx.useCallbackUrl(ctx.origin + redirectTo)
  const response = await flow.start(ctx, provider)
  await ctx.emit('linkRequested', { user: { id: userId }, provider: id })
  return response
}

async function updateProfile(ctx: Context, change: Record<string, unknown>): Promise<Response | Profile> {
  const userId = await requireUserId(ctx)
  const issues = checkChange(ctx.service('store'), change)
  if (issues.length > 0) return json({ error: 'InvalidInput', issues }, 400)
  return (await changeProfile(ctx, userId, change)) ?? refuseVisitor()
}

async function requireUserId(ctx: Context): Promise<string> {
  return (await findOwnUser(ctx, 'accounts'))?.id ?? refuseVisitor()
}

async function requireFreshProof(ctx: Context, what: string): Promise<string> {
  const userId = await requireUserId(ctx)
  if (await hasFreshProof(ctx, { maxAge: maxProofAge })) return userId
  throw new StepUpRequired(`${what}: the proof is older than ${maxProofAge} seconds. Call client.user.prove() first, and go to its url.`)
}

function refuseVisitor(): never {
  throw new HttpError(401, 'Sign in first.')
}

function readText(sent: unknown, name: string, most: number): string {
  const value = readFields(sent)[name]
  if (typeof value !== 'string' || value === '' || value.length > most) throw new TypeError(`${name}: a text of 1 to ${most} characters`)
  return value
}

function readPath(sent: unknown): string {
  return toLocalPath((readFields(sent)['redirectTo'] as string | undefined) ?? '/', 'accounts')
}
