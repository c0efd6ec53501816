/** Differences in reading, renewing and ending sessions. */
import type { SetCookie, Step } from './_browser.ts'
import type { Rule } from './_rules.ts'
import { callsOf } from './_rules-calls.ts'

export const sessionRules: readonly Rule[] = [
  {
    hook: 'D6',
    what: 'the session callback is not given the session token, and expires as the text that the client will see; the new one when it was extended',
    apply(ours, theirs) {
      const extended = ours.calls.some(({ name }) => name === 'updateSession')
      for (const [mine, session] of pairs(ours, theirs)) {
        if (!('sessionToken' in mine)) delete session['sessionToken']
        if (typeof session['expires'] === 'string')
          session['expires'] = extended ? mine['expires'] : session['expires'].replace(/^date /, '')
      }
    },
  },
  {
    hook: 'D6',
    what: 'with database sessions session.user of the callback is name, email and image, and so is what a callback hands on; the whole user is beside it',
    apply(ours, theirs) {
      const [asked] = callsOf(ours, 'callback', 'session')
      const row = (asked?.payload as { user?: Record<string, unknown> } | undefined)?.user
      if (!row) return
      for (const [mine, session] of pairs(ours, theirs)) {
        const [own, other] = [mine['user'] as Record<string, unknown>, session['user'] as Record<string, unknown>]
        for (const name of Object.keys(row))
          if (!['name', 'email', 'image'].includes(name) && !(name in Object(own)) && Object(other)[name] === row[name]) delete other[name]
      }
    },
  },
  {
    hook: 'D6',
    what: 'newSession and trigger come with an update in both strategies',
    apply(ours, theirs) {
      for (const [i, { payload }] of callsOf(theirs, 'callback', 'session').entries()) {
        const mine = callsOf(ours, 'callback', 'session')[i]?.payload as Record<string, unknown> | undefined
        if (!/^POST \S*\/session/.test(ours.request) || mine?.['trigger'] !== 'update') continue
        Object.assign(payload as object, { trigger: 'update' }, 'newSession' in mine && { newSession: mine['newSession'] })
      }
    },
  },
  {
    hook: 'ROWS 81',
    what: 'the cookie of a database session expires with the session, extended or not (WIRE quirk 20)',
    apply(ours, theirs) {
      const mine = sessionCookie(ours)
      const other = sessionCookie(theirs)
      const expires = `Expires=${new Date(String((Object(ours.answer.body) as { expires?: string }).expires)).toUTCString()}`
      if (mine && other && !String(JSON.stringify(other.value)).includes('token"') && mine.flags.includes(expires)) other.flags = mine.flags
    },
  },
  {
    hook: 'D38',
    what: 'a session that cannot be read because the store failed is an error, not a sign-out',
    apply(ours, theirs) {
      if (ours.answer.status !== 503 || !theirs.logs.some(({ type }) => type === 'SessionTokenError')) return
      theirs.answer.status = 503
      theirs.logs = ours.logs
    },
  },
  {
    hook: 'D38',
    what: 'a sign-out that could not delete the session says so; the cookie goes',
    apply(ours, theirs) {
      const failed = (step: Step): boolean => step.logs.some(({ type }) => type === 'SignOutError') && step.answer.status === 302
      if (!failed(ours) || !failed(theirs) || !ours.answer.location?.url.endsWith('/error')) return
      Object.assign(theirs.answer, { location: ours.answer.location })
      theirs.logs = ours.logs
      theirs.answer.cookies = theirs.answer.cookies.filter(({ value }) => value === '')
    },
  },
  {
    hook: 'D96',
    what: 'the session token says in one claim which session it is of; neither callback nor event has it',
    apply(ours, theirs) {
      for (const [i, cookie] of theirs.answer.cookies.entries()) {
        const [mine, other] = [ours.answer.cookies[i]?.value, cookie.value].map((value) => /^chunk of (\d+)$/.exec(String(value))?.[1])
        // Under 600 characters, encrypted.
        if (mine && other && Number(mine) > Number(other) && Number(mine) < Number(other) + 600) cookie.value = `chunk of ${mine}`
      }
      const token = (sessionCookie(ours)?.value as { token?: { ses?: { id?: unknown; started?: unknown } } } | undefined)?.token
      if (typeof token?.ses?.id === 'string' && typeof token.ses.started === 'number') delete token.ses
    },
  },
  {
    hook: 'D5',
    what: 'the jwt cookie is re-issued when it is due, not at every read',
    apply(ours, theirs, memory) {
      const issued = (step: Step): boolean => step.answer.cookies.some(({ name, value }) => name.includes('session-token') && value !== '')
      const token = (sessionCookie(ours)?.value as { token?: Times } | undefined)?.token
      if (token) memory.set('times', { iat: token.iat, exp: token.exp })
      if (issued(ours)) memory.delete('older')
      else if (issued(theirs) && /^GET \S*\/session$/.test(ours.request)) {
        memory.set('older', true)
        theirs.answer.cookies = theirs.answer.cookies.filter(({ name }) => !name.includes('session-token'))
      }
      // From then on, until the next re-issue, the browser holds a younger token there.
      if (memory.has('older')) sameTimes(ours, theirs, memory.get('times') as Times | undefined)
    },
  },
]

/** Sessions in the same places of both steps: given to the callback, told to listeners, answered. */
function pairs(ours: Step, theirs: Step): [Record<string, unknown>, Record<string, unknown>][] {
  const found: [unknown, unknown][] = [[ours.answer.body, theirs.answer.body]]
  for (const kind of ['callback', 'event'] as const) {
    const mine = callsOf(ours, kind, 'session')
    for (const [i, { payload }] of callsOf(theirs, kind, 'session').entries()) {
      found.push([(mine[i]?.payload as { session?: unknown } | undefined)?.session, (payload as { session?: unknown }).session])
    }
  }
  return found.filter((pair): pair is [Record<string, unknown>, Record<string, unknown>] =>
    pair.every((one) => typeof one === 'object' && one !== null),
  )
}

function sessionCookie({ answer }: Step): SetCookie | undefined {
  return answer.cookies.find(({ name, value }) => name.includes('session-token') && value !== '')
}

/** Of our token, as it was issued last. */
interface Times {
  iat?: number
  exp?: number
}

/** Both sides say their own times; ours must be those of the token that the browser holds. */
function sameTimes(ours: Step, theirs: Step, held: Times | undefined): void {
  if (held?.exp === undefined) return
  const end = new Date(held.exp * 1000).toISOString()
  for (const [mine, session] of pairs(ours, theirs)) if (session['expires'] && mine['expires'] === end) session['expires'] = end
  for (const [i, { payload }] of theirs.calls.entries()) {
    const token = (payload as { token?: Record<string, unknown> } | null)?.token
    const mine = (ours.calls[i]?.payload as { token?: Record<string, unknown> } | null)?.token
    if (token && mine) for (const name of ['iat', 'exp'] as const) if (mine[name] === held[name]) token[name] = held[name]
  }
}
