/** Devices and sessions, each with a button that ends it, and one that ends all. */
import { type AccountSection, type Context, endSessions, redirectTo, type SessionInfo, withParams } from 'authkernel/kernel'
import { type Html, markup } from '../ui/html.ts'
import { icons } from '../ui/icons.ts'
import { nameDevice } from './device.ts'

export const sessionsSection: AccountSection = {
  id: 'sessions',
  order: 300,
  async draw(ctx, tools) {
    const { say, form, button, moment, row, tag } = tools
    const { session } = ctx
    const able = (ability: 'list' | 'revoke:id' | 'revoke:user'): boolean => session.abilities?.has(ability) ?? false
    const userId = (await ctx.session.user(ctx))?.id
    if (userId === undefined || !able('list')) return undefined
    const [sessions, current] = await Promise.all([session.list?.(ctx, userId), session.id?.(ctx)])
    const drawSession = async (info: SessionInfo): Promise<Html> => {
      const { id, createdAt, lastUsed, attributes } = info
      const device = attributes?.app ?? nameDevice(say, attributes?.userAgent ?? (id === current ? ctx.facts.userAgent : undefined))
      const facts = [
        attributes?.address,
        createdAt && say('account.session.since', { date: moment(createdAt) }),
        lastUsed && say('account.session.used', { date: moment(lastUsed) }),
      ]
      const ends = id !== current && able('revoke:id')
      const label = `session-${id.slice(0, 16)}`
      return row({
        id: label,
        picture: icons.device,
        title: markup`<bdi>${device}</bdi>`,
        tags: id === current && tag(say('account.session.current'), 'ok'),
        text: facts,
        actions: ends && (await form('/account/sessions/end', button(say('account.session.end'), { describedBy: label }), { id })),
      })
    }
    return {
      heading: say('account.sessions'),
      text: able('revoke:user') && say('account.sessions.hint'),
      actions: able('revoke:user') && (await form('/account/sessions/end-all', button(say('account.sessions.all'), { tone: 'danger' }))),
      body: markup`<ul class="ui-list ui-flush">${(await Promise.all((sessions ?? []).map(drawSession))).map((one) => markup`<li>${one}</li>`)}</ul>`,
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
