/** A session for somebody who has just signed in, or who proved it once more. */
import { AccessDenied, type Awaitable, type Context, type JWT, type Login, type SessionAttributes } from 'authkernel/kernel'
import { others } from './late.ts'
import type { Made } from './settled.ts'
import { clear, type Held, newClaim, show, write } from './token.ts'

interface Issuing {
  login: Login
  attributes: SessionAttributes
  former: Held | null
  before: ((id: string) => Awaitable<void>) | undefined
}

/** A token for a login; `former` is the one of the browser, where it counts. Throws AccessDenied when the session to renew has ended. */
export async function issue(ctx: Context, options: Made, { login, attributes, former, before }: Issuing): Promise<{ id: string } | null> {
  const { user, account, profile, isNewUser, trigger, session } = login
  if (session === 'renew' && (!former || former.token.sub !== user.id))
    throw new AccessDenied('The session to renew has ended. Sign in again.')
  const fresh: JWT = { name: user.name, email: user.email, picture: user.image, ...(user.id !== undefined && { sub: user.id }) } as JWT
  if (ctx.store) show(ctx.store.shownFields, user, fresh)
  const message = profile
    ? { token: fresh, user, account, profile, isNewUser, trigger }
    : { token: fresh, user, account, isNewUser, trigger }
  // A step-up is no sign-in: the token stays what it was, but for an address that the person has changed.
  const token = await ctx.ask('jwt', session === 'renew' && former ? { token: withAddress(former.token, user) } : message)
  if (token === null) {
    clear(ctx)
    return null
  }
  const keeps = session === 'keep' && former !== null
  const claim = keeps
    ? former.claim
    : newClaim(ctx, options, token, session === 'renew' && former ? renewed(attributes, former.claim) : attributes)
  if (!keeps) await before?.(claim.id)
  if (options.lists) await (await others()).record(ctx, options, { token, claim })
  await write(ctx, options, { token, claim })
  // The former token must not outlive the new one: it may have been planted, or copied.
  if (former && former.claim.id !== claim.id && options.revocable) await (await others()).revoke(ctx, options, { id: former.claim.id })
  return { id: claim.id }
}

/** A session stays of its kinds and keeps its end, whatever was kept of its attributes elsewhere. */
function renewed(attributes: SessionAttributes, { kinds = [], until, actor }: Held['claim']): SessionAttributes {
  const all = [...new Set([...(attributes.kinds ?? []), ...kinds])]
  return {
    ...attributes,
    ...(all.length > 0 && { kinds: all }),
    ...(until !== undefined && { until }),
    ...(actor !== undefined && { actor }),
  }
}

function withAddress(token: JWT, { email }: Login['user']): JWT {
  return typeof token.email === 'string' && email && token.email !== email ? { ...token, email } : token
}
