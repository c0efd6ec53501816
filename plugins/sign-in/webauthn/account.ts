/** What users do with their passkeys, on the account page and by the client: loaded by the first request for it. */
import {
  AuthError,
  clientMethod,
  type Context,
  createMethodRoute,
  HttpError,
  proveAgain,
  readFields,
  redirectTo,
  type Route,
} from 'authkernel/kernel'
import { findOwnUser } from 'authkernel/kernel/users'
import { StepUpRequired } from './errors.ts'
import { isProofOld } from './proof-age.ts'
import { listPasskeys, type Passkey, removePasskey, renamePasskey } from './passkeys.ts'

export { drawRemove, drawRename, drawSection } from './section.ts'

/** Seconds: a session that was left open, or stolen, removes nothing. */
const removalProofAge = 300

/** `POST /account/passkeys/:act`, which the forms of the section post to. */
export async function handleAct(ctx: Context): Promise<Response> {
  const acts: Readonly<Record<string, (ctx: Context) => Promise<Response>>> = {
    prove: leadToProof,
    rename: handleRename,
    remove: handleRemove,
  }
  const { act = '' } = ctx.params
  const handle = Object.hasOwn(acts, act) ? acts[act] : undefined
  return handle ? handle(ctx) : redirectTo(`${ctx.base}/account#passkeys`)
}

/** Leads to a fresh proof, and back to the section. */
async function leadToProof(ctx: Context): Promise<Response> {
  const back = `${ctx.base}/account#passkeys`
  if (!(await findOwnUser(ctx))) return ctx.page('signIn', { callbackUrl: back })
  return (await proveAgain(ctx, removalProofAge, back)) ?? redirectTo(back)
}

async function handleRename(ctx: Context): Promise<Response> {
  const user = await findOwnUser(ctx)
  if (!user?.id) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const { id, name } = await readIdAndName(ctx)
  try {
    await renamePasskey(ctx, user.id, id, name)
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    // The response is the page itself, with what was typed.
    return ctx.render('passkeyRename', { id, name, error: 'PasskeyName' })
  }
  return redirectTo(`${ctx.base}/account?done=#passkeys`)
}

async function handleRemove(ctx: Context): Promise<Response> {
  const user = await findOwnUser(ctx)
  if (!user?.id) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const { id } = await readIdAndName(ctx)
  const redirect = await proveAgain(ctx, removalProofAge, `${ctx.base}/account/passkeys/remove?id=${encodeURIComponent(id)}`)
  if (redirect) return redirect
  try {
    await removePasskey(ctx, user.id, id)
  } catch (error) {
    if (!(error instanceof AuthError) || error.status >= 500) throw error
    return redirectTo(`${ctx.base}/account?passkeys=${encodeURIComponent(error.type)}#passkeys`)
  }
  return redirectTo(`${ctx.base}/account?done=#passkeys`)
}

/** What the routes of `client.passkeys` do. */
export const methodRoutes: Readonly<Record<'list' | 'rename' | 'remove', Route>> = {
  list: createMethodRoute('passkeys', 'list', clientMethod(listOwn)),
  rename: createMethodRoute('passkeys', 'rename', clientMethod(readFields, renameOwn)),
  remove: createMethodRoute('passkeys', 'remove', clientMethod(readFields, removeOwn)),
}

async function listOwn(ctx: Context): Promise<Passkey[]> {
  return listPasskeys(ctx, await requireUserId(ctx))
}

async function renameOwn(ctx: Context, { id, name }: Record<string, unknown>): Promise<boolean> {
  const userId = await requireUserId(ctx)
  if (typeof id !== 'string' || typeof name !== 'string') throw new HttpError(400, 'passkeys.rename: send `id` and `name` as texts.')
  return renamePasskey(ctx, userId, id, name)
}

async function removeOwn(ctx: Context, { id }: Record<string, unknown>): Promise<boolean> {
  const userId = await requireUserId(ctx)
  if (typeof id !== 'string') throw new HttpError(400, 'passkeys.remove: send `id` as a text.')
  if (await isProofOld(ctx, removalProofAge))
    throw new StepUpRequired(
      `passkeys.remove: the proof is older than ${removalProofAge} seconds. Lead the user to the sign-in page first.`,
    )
  return removePasskey(ctx, userId, id)
}

async function requireUserId(ctx: Context): Promise<string> {
  const { id } = (await findOwnUser(ctx, 'passkeys')) ?? {}
  if (id === undefined) throw new HttpError(401, 'Sign in first.')
  return id
}

async function readIdAndName(ctx: Context): Promise<{ id: string; name: string }> {
  const { passkey: id, name } = await ctx.body()
  return { id: typeof id === 'string' ? id : '', name: typeof name === 'string' ? name : '' }
}
