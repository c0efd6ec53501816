/** Devices and sessions, each with a button that ends it, and one that ends all. */
import { type AccountSection, type Context, endSessions, redirectTo, type SessionInfo, withParams } from 'authkernel/kernel'
import { type Html, markup } from '../ui/html.ts'
import { nameDevice } from './device.ts'

export const sessionsSection: AccountSection = {
  id: 'sessions',
  order: 300,
  async draw(ctx, tools) {
    const { say, form, submit, date } = tools
    const { session } = ctx
    const able = (ability: 'list' | 'revoke:id' | 'revoke:user'): boolean => session.abilities?.has(ability) ?? false
    const userId = (await ctx.session.user(ctx))?.id
    if (userId === undefined || !able('list')) return undefined
    const [sessions, current] = await Promise.all([session.list?.(ctx, userId), session.id?.(ctx)])
    const row = async (info: SessionInfo): Promise<Html> => {
      const { id, createdAt, lastUsed, attributes } = info
      const device = attributes?.app ?? nameDevice(say, attributes?.userAgent ?? (id === current ? ctx.facts.userAgent : undefined))
      const facts = [
        attributes?.address,
        createdAt && say('account.session.since', { date: date(createdAt) }),
        lastUsed && say('account.session.used', { date: date(lastUsed) }),
      ].filter(Boolean)
      const ends = id !== current && able('revoke:id')
      const label = `session-${id.slice(0, 16)}`
      const here = id === current && markup` <b>${say('account.session.current')}</b>`
      const small = facts.length > 0 && markup`<small>${facts.map((fact, at) => [at > 0 && ' · ', fact])}</small>`
      const button = markup`<button class="button small" type="submit" aria-describedby="${label}"><span class="label">${say('account.session.end')}</span></button>`
      return markup`<li><span id="${label}"><bdi>${device}</bdi>${here}${small}</span>${ends && (await form('/account/sessions/end', button, { id }))}</li>`
    }
    return {
      heading: say('account.sessions'),
      body: [
        markup`<ul class="rows">${await Promise.all((sessions ?? []).map(row))}</ul>`,
        able('revoke:user') && [
          await form('/account/sessions/end-all', submit(say('account.sessions.all'), { quiet: true })),
          markup`<p class="note">${say('account.sessions.hint')}</p>`,
        ],
      ],
    }
  },
}

/** Id of the user whose sessions may be ended. Undefined for a guest, and for an administrator who acts as the user. */
async function ownId(ctx: Context): Promise<string | undefined> {
  return (await ctx.session.user(ctx))?.id
}

/** `POST /account/sessions/end`. */
export async function endOne(ctx: Context): Promise<Response> {
  const userId = await ownId(ctx)
  if (userId === undefined) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const { id } = await ctx.body()
  if (typeof id === 'string' && id.length <= 128) await endSessions(ctx, { id, userId }, 'the account page')
  return redirectTo(`${withParams(`${ctx.base}/account`, { done: '' })}#sessions`)
}

/** `POST /account/sessions/end-all`: the session of this browser too. */
export async function endAll(ctx: Context): Promise<Response> {
  const userId = await ownId(ctx)
  if (userId !== undefined) {
    await endSessions(ctx, { userId }, 'the account page')
    const ended = await ctx.session.end(ctx)
    if (ended) await ctx.emit('signOut', ended)
  }
  return ctx.page('signIn')
}
